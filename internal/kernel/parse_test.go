package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseModules(t *testing.T) {
	got, err := parseModules("ext4 1130496 1 - Live 0xffffffffc0201000\njbd2 200704 1 ext4, Loading 0x0000000000000000 (OE)\n")
	want := []Module{{"ext4", 1130496, 0xffffffffc0201000, "Live"}, {"jbd2", 200704, 0, "Loading"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{"ext4\n", "ext4 x 1 - Live 0x0\n", "ext4 1 1 - Live z\n"} {
		if _, err := parseModules(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestParseKprobeList(t *testing.T) {
	const text = `ffffffff81234560  k  vfs_read+0x9    [OPTIMIZED]
ffffffffc0201234  r  ext4_foo+0x0  ext4 [DISABLED][FTRACE]
ffffffff81234570  k  vfs_read+0x19    [DISABLED]
`
	got, err := parseKprobeList(text)
	if want := []uint64{0xffffffff81234560, 0xffffffff81234570}; !slices.Equal(got, want) || err != nil {
		t.Errorf("%#x, %v", got, err)
	}
	if _, err := parseKprobeList("what\n"); err == nil {
		t.Error("no error")
	}
}

func TestParseBlacklist(t *testing.T) {
	got, err := parseBlacklist("0xffffffff81c00990-0xffffffff81c009b0\tasm_exc_divide_error\n0x10-0x20\tx\n")
	if want := []span{{0xffffffff81c00990, 0xffffffff81c009b0}, {0x10, 0x20}}; !slices.Equal(got, want) || err != nil {
		t.Errorf("%#x, %v", got, err)
	}
	for _, text := range []string{"\n", "0x1\ta\n", "0x1-y\ta\n"} {
		if _, err := parseBlacklist(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	got, err := ParseList("0-2,5,7-8")
	if want := []int{0, 1, 2, 5, 7, 8}; !slices.Equal(got, want) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "a", "3-1", "1-", "1,,2", "99999"} {
		if _, err := ParseList(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// coreHeader is the beginning of a core file with these segments.
func coreHeader(segments ...segment) []byte {
	var b bytes.Buffer
	h := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_CORE), Machine: uint16(elf.EM_X86_64), Version: 1,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(segments) + 1),
	}
	binary.Write(&b, binary.LittleEndian, h)
	binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_NOTE)})
	for _, s := range segments {
		binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Vaddr: s.addr, Memsz: s.size, Filesz: s.size, Off: uint64(s.offset)})
	}
	return b.Bytes()
}

func TestParseSegments(t *testing.T) {
	want := []segment{{0xffffffff81000000, 0x2000000, 0x7fff81002000}, {0xffffc90000000000, 0x1fffffffffff, 0x490000002000}}
	got, _, err := parseSegments(bytes.NewReader(coreHeader(want...)))
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "what", string(coreHeader())} {
		if _, _, err := parseSegments(bytes.NewReader([]byte(text))); err == nil {
			t.Errorf("%.10q: no error", text)
		}
	}
}

func FuzzParseSegments(f *testing.F) {
	f.Add(coreHeader(segment{0xffffffff81000000, 0x2000000, 0x7fff81002000}))
	f.Fuzz(func(t *testing.T, text []byte) {
		segments, _, err := parseSegments(bytes.NewReader(text))
		if err == nil && len(segments) == 0 {
			t.Error("no segments and no error")
		}
	})
}

func FuzzParseLists(f *testing.F) {
	f.Add("ffffffff81234560  k  vfs_read+0x9    [OPTIMIZED]\n")
	f.Add("0xffffffff81c00990-0xffffffff81c009b0\tasm_exc_divide_error\n")
	f.Add("ext4 1130496 1 - Live 0xffffffffc0201000\n")
	f.Add("0-3,8")
	f.Fuzz(func(t *testing.T, text string) {
		parseKprobeList(text)
		parseBlacklist(text)
		parseModules(text)
		ParseList(text)
	})
}

// An entry begins with the distance from itself to the place.
func TestRelativeTable(t *testing.T) {
	table := binary.NativeEndian.AppendUint32(nil, 0xfffffff0)
	table = append(table, make([]byte, 8)...)
	table = binary.NativeEndian.AppendUint32(table, 0x100)
	table = append(table, make([]byte, 8)...)
	if got, want := relative(table, 0x1000, 12), []uint64{0xff0, 0x110c}; !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

func TestParseRedirected(t *testing.T) {
	const text = `vfs_read (1)           	tramp: 0xffffffffc0201000 (function_trace_call+0x0/0x2b0) ->ftrace_ops_assist_func+0x0/0xf0
vfs_write (2) R I     	tramp: 0xffffffffc0203000 (klp_ftrace_handler+0x0/0x1d0) ->klp_ftrace_handler+0x0/0x1d0
Init_Data (1) R       O
ext4_sync_fs [ext4] (1)     D   	direct-->bpf_trampoline_6442474432+0x0/0x1000
`
	got := parseRedirected(text)
	if want := (map[string]bool{"vfs_write": true, "ext4_sync_fs": true}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
