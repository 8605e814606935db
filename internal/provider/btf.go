package provider

import (
	"fmt"
	"strings"

	"github.com/cilium/ebpf/btf"
)

// TaskMember finds a member of struct task_struct, written with those that it
// is in: "thread_info.status". The mask of the result is empty.
func TaskMember(spec *btf.Spec, path string) (*TaskBits, error) {
	var task *btf.Struct
	if err := spec.TypeByName("task_struct", &task); err != nil {
		return nil, fmt.Errorf("struct task_struct: %w", err)
	}
	var at btf.Type = task
	var offset btf.Bits
	for _, name := range strings.Split(path, ".") {
		m, ok := member(at, name)
		if !ok {
			return nil, fmt.Errorf("struct task_struct has no member %s in this kernel", path)
		}
		offset += m.Offset
		at = btf.UnderlyingType(m.Type)
	}
	size, err := btf.Sizeof(at)
	if err != nil {
		return nil, fmt.Errorf("struct task_struct: %s: %w", path, err)
	}
	return &TaskBits{Offset: int(offset.Bytes()), Size: size}, nil
}

// member finds a member of a struct or union, also in anonymous members.
func member(t btf.Type, name string) (btf.Member, bool) {
	var members []btf.Member
	switch t := t.(type) {
	case *btf.Struct:
		members = t.Members
	case *btf.Union:
		members = t.Members
	}
	for _, m := range members {
		if m.Name == name {
			return m, true
		}
		if m.Name != "" {
			continue
		}
		if found, ok := member(btf.UnderlyingType(m.Type), name); ok {
			found.Offset += m.Offset
			return found, true
		}
	}
	return btf.Member{}, false
}
