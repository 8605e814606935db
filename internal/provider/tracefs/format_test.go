package tracefs

import (
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
	"github.com/google/go-cmp/cmp"

	"kinst/internal/dlang/types"
)

func TestParseFormat(t *testing.T) {
	const text = `name: sys_enter_write
ID: 840
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:const char * buf;	offset:24;	size:8;	signed:0;
	field:pid_t *pids[4];	offset:32;	size:32;	signed:0;
	field:char comm[16];	offset:64;	size:16;	signed:0;
	field:__data_loc char[] name;	offset:80;	size:4;	signed:0;
	field:__data_loc cpumask_t cpus;	offset:84;	size:4;	signed:0;

print fmt: "fd: 0x%08lx"
`
	want := &Format{ID: 840, Fields: []Field{
		{Name: "__syscall_nr", Type: "int", Offset: 8, Size: 4, Signed: true},
		{Name: "buf", Type: "const char *", Offset: 24, Size: 8},
		{Name: "pids", Type: "pid_t *", Offset: 32, Size: 32, Array: true},
		{Name: "comm", Type: "char", Offset: 64, Size: 16, Array: true},
		{Name: "name", Type: "char", Offset: 80, Size: 4, Array: true, Located: true},
		{Name: "cpus", Type: "cpumask_t", Offset: 84, Size: 4, Array: true, Located: true},
	}}
	got, err := parseFormat(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParseFormatRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"ID: many\n", `"many" is no number of an event`},
		{"\tfield:int x;\toffset:a;\tsize:4;\n", `"a" is no number in the line`},
		{"\tfield:int;\n", "no field in the line"},
	} {
		_, err := parseFormat(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.text, err, test.want)
		}
	}
}

// TestEvents reads the format of every event, and finds every field's type.
func TestEvents(t *testing.T) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	events, err := Events()
	if err != nil {
		t.Fatal(err)
	}
	if len(events) < 200 {
		t.Errorf("only %d events", len(events))
	}
	for _, e := range events {
		f, err := ReadFormat(e.System, e.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if f.ID == 0 {
			t.Errorf("%s:%s has no ID", e.System, e.Name)
		}
		for _, field := range f.Fields {
			typ := Type(spec, field.Type)
			if typ == nil {
				t.Errorf("%s:%s: no type %q of %s", e.System, e.Name, field.Type, field.Name)
				continue
			}
			size, err := btf.Sizeof(typ)
			if err != nil && !field.Array || !field.Array && size != field.Size {
				t.Errorf("%s:%s: %s has %d bytes, its type %q has %d: %v", e.System, e.Name, field.Name, field.Size, field.Type, size, err)
			}
		}
	}
}

func TestType(t *testing.T) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ decl, want string }{
		{"int", "int"},
		{"unsigned", "unsigned int"},
		{"unsigned long", "unsigned long"},
		{"long long", "long long"},
		{"const char *const *", "char **"},
		{"size_t", "size_t"},
		{"struct task_struct *", "struct task_struct *"},
		{"struct none_of_this_name *", "struct none_of_this_name *"},
		{"const void*", "void *"},
		{"none_of_this_name_t *", "void *"},
	} {
		if got := types.FromBTF(Type(spec, test.decl))[0].String(); got != test.want {
			t.Errorf("%q: got %q, want %q", test.decl, got, test.want)
		}
	}
	if got := Type(spec, "none_of_this_name_t"); got != nil {
		t.Errorf("a type of no name: %v", got)
	}
}
