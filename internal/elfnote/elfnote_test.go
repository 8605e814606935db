package elfnote

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"testing"
)

// note is a note as an assembler writes it.
func note(name string, kind uint32, desc string) []byte {
	pad := func(s string) string { return s + "\x00\x00\x00"[:(4-len(s)%4)%4] }
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)+1))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.LittleEndian.AppendUint32(b, kind)
	return append(b, pad(name+"\x00")+pad(desc)...)
}

func TestAll(t *testing.T) {
	data := append(note("GNU", 3, "abcde"), note("VMCOREINFO", 0, "A=1\n")...)
	want := []Note{{"GNU", 3, []byte("abcde")}, {"VMCOREINFO", 0, []byte("A=1\n")}}
	i := 0
	for n, err := range All(data, binary.LittleEndian) {
		if err != nil || i >= len(want) || n.Name != want[i].Name || n.Type != want[i].Type || string(n.Desc) != string(want[i].Desc) {
			t.Fatalf("note %d is %+v, %v", i, n, err)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d notes", i)
	}
	// The padding of the last one may be missing, its bytes may not.
	for cut, wantErr := range map[int]error{len(data) - 4: ErrTruncated, len(data) - 1: ErrTruncated, 28 - 3: nil} {
		var last error
		for _, err := range All(data[:cut], binary.LittleEndian) {
			last = err
		}
		if !errors.Is(last, wantErr) {
			t.Errorf("cut to %d bytes: %v, want %v", cut, last, wantErr)
		}
	}
}

// The test binary's own build ID is a note that another tool wrote.
func TestOfThisFile(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.Section(".note.go.buildid").Data()
	if err != nil {
		t.Fatal(err)
	}
	for n, err := range All(data, f.ByteOrder) {
		if err != nil || n.Name != "Go\x00" && n.Name != "Go" || n.Type != 4 {
			t.Errorf("%+v, %v", n, err)
		}
	}
}

func FuzzAll(f *testing.F) {
	f.Add(note("GNU", 3, "abcde"))
	f.Fuzz(func(t *testing.T, data []byte) {
		total := 0
		for n := range All(data, binary.LittleEndian) {
			total += len(n.Name) + len(n.Desc)
		}
		if total > len(data) {
			t.Error("more than there is")
		}
	})
}
