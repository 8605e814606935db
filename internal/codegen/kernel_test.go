package codegen

import (
	"sync"

	"github.com/cilium/ebpf/btf"
)

var vmlinux = sync.OnceValues(btf.LoadKernelSpec)

func kernelTypes(module string) (*btf.Spec, error) {
	if module != "" {
		return btf.LoadKernelModuleSpec(module)
	}
	return vmlinux()
}
