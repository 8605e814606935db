package syscall

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kinst/internal/provider"
	"kinst/internal/provider/probetest"
	"kinst/internal/vm"
	"kinst/internal/vm/vmtest"
)

// TestCompat runs a 32-bit program whose calls of setfsgid have the number of
// the 64-bit sysfs, which nobody calls any more. It does so in guests, whose
// kernels are known to run such programs.
func TestCompat(t *testing.T) {
	if vmtest.InGuest() {
		testCompat(t)
		return
	}
	for _, kernel := range vmtest.Kernels() {
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			defer vmtest.Acquire(t)()
			var out bytes.Buffer
			status, err := vm.Run(t.Context(), vm.Config{
				Kernel: kernel,
				Args:   []string{"-test.run=^TestCompat$"},
				Env:    []string{"KINST_TEST_GUEST=" + kernel},
				Append: "ia32_emulation=on",
			}, &out, &out)
			if err != nil || status != 0 {
				t.Errorf("status %d, %v\n%s", status, err, out.Bytes())
			}
		})
	}
}

func testCompat(t *testing.T) {
	p := newProvider(t)
	probes := probetest.Match(t, p, provider.Desc{Function: "sysfs"})
	_, counts := probetest.Enable(t, p, 0, probes...)

	// The same without what tells the programs apart, to see that they make
	// the calls.
	fooled := *probes[0]
	open := *fooled.Context
	open.Unless = nil
	fooled.Context = &open
	_, fooledCounts := probetest.Enable(t, p, 0, &fooled)

	var exit *exec.ExitError
	if err := exec.Command(program32(t)).Run(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Fatalf("a 32-bit program: %v; the kernel needs CONFIG_IA32_EMULATION", err)
	}
	if got := fooledCounts()[&fooled].N; got != 100 {
		t.Errorf("%d calls of the program, want 100", got)
	}
	if got := counts(); len(got) != 0 {
		t.Errorf("calls of a 32-bit program are counted: %v", got)
	}
}

// program32 writes a program that calls number 139 a hundred times and exits
// with 7.
func program32(t *testing.T) string {
	code := []byte{
		0xbe, 100, 0, 0, 0, //    mov $100, %esi
		0xb8, 139, 0, 0, 0, // 1: mov $139, %eax
		0x31, 0xdb, //            xor %ebx, %ebx
		0xcd, 0x80, //            int $0x80
		0x4e,       //            dec %esi
		0x75, 0xf4, //            jnz 1b
		0xb8, 1, 0, 0, 0, //      mov $1, %eax
		0xbb, 7, 0, 0, 0, //      mov $7, %ebx
		0xcd, 0x80, //            int $0x80
	}
	const base, headers = 0x10000, 52 + 32
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header32{
			Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_386), Version: 1,
			Entry: base + headers, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: 1,
		},
		elf.Prog32{
			Type: uint32(elf.PT_LOAD), Vaddr: base, Paddr: base,
			Filesz: headers + uint32(len(code)), Memsz: headers + uint32(len(code)),
			Flags: uint32(elf.PF_R | elf.PF_X), Align: 0x1000,
		},
		code,
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "program32")
	if err := os.WriteFile(name, b.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}
