package kernel

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf/btf"
)

// structOf returns a structure of the kernel's types.
func structOf(spec *btf.Spec, name string) (*btf.Struct, error) {
	var s *btf.Struct
	if err := spec.TypeByName(name, &s); err != nil {
		return nil, fmt.Errorf("struct %s: %w", name, err)
	}
	return s, nil
}

// memberOffset returns where a member is in a structure, in bytes. Members of
// inner structures are named with dots.
func memberOffset(s *btf.Struct, path string) (uint32, error) {
	name, rest, inner := strings.Cut(path, ".")
	for _, m := range s.Members {
		if m.Name != name {
			continue
		}
		if !inner {
			return m.Offset.Bytes(), nil
		}
		if sub, ok := btf.UnderlyingType(m.Type).(*btf.Struct); ok {
			offset, err := memberOffset(sub, rest)
			return m.Offset.Bytes() + offset, err
		}
	}
	return 0, fmt.Errorf("struct %s has no member %s", s.Name, path)
}
