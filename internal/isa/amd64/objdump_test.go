package amd64

import (
	"bufio"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/objdump.txt with the installed objdump")

const (
	corpusFile = "testdata/objdump.txt"
	corpusAddr = 0x1000 // where every instruction of the corpus stands
)

// sample is a line of the corpus: an instruction, and how objdump writes it.
type sample struct {
	text       []byte
	att, intel string
}

// readCorpus gives the samples, and all lines for -update, with nil samples
// for the comments.
func readCorpus(tb testing.TB) (lines []string, samples []*sample) {
	tb.Helper()
	f, err := os.Open(corpusFile)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		line := sc.Text()
		lines = append(lines, line)
		if line == "" || line[0] == '#' {
			samples = append(samples, nil)
			continue
		}
		columns := append(strings.Split(line, "\t"), "", "")
		text, err := hex.DecodeString(columns[0])
		if err != nil {
			tb.Fatalf("%s:%d: %v", corpusFile, len(lines), err)
		}
		samples = append(samples, &sample{text, columns[1], columns[2]})
	}
	return lines, samples
}

// TestObjdump holds length and text against what objdump printed.
func TestObjdump(t *testing.T) {
	if *update {
		updateCorpus(t)
	}
	_, samples := readCorpus(t)
	for _, s := range samples {
		if s == nil {
			continue
		}
		in, err := Decode(s.text, corpusAddr)
		if err != nil || in.Len != len(s.text) {
			t.Errorf("% x (%s): length %d, error %v", s.text, s.att, in.Len, err)
		}
		if got := squeeze(Format(s.text, corpusAddr, ATT, nil)); got != s.att {
			t.Errorf("% x\n got  %s\n want %s", s.text, got, s.att)
		}
		if got := squeeze(Format(s.text, corpusAddr, Intel, nil)); got != s.intel {
			t.Errorf("% x\n got  %s\n want %s", s.text, got, s.intel)
		}
		if _, err := Decode(s.text[:len(s.text)-1], corpusAddr); err != ErrTruncated {
			t.Errorf("% x without its last byte: error %v", s.text, err)
		}
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// updateCorpus fills in the columns that objdump makes.
func updateCorpus(t *testing.T) {
	lines, samples := readCorpus(t)
	for i, s := range samples {
		if s != nil {
			lines[i] = fmt.Sprintf("%x\t%s\t%s", s.text, objdump(t, s.text, "att"), objdump(t, s.text, "intel"))
		}
	}
	if err := os.WriteFile(corpusFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// objdump has a single instruction disassembled.
func objdump(t *testing.T, text []byte, syntax string) string {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-w", "-b", "binary", "-m", "i386:x86-64",
		"-M", syntax, fmt.Sprintf("--adjust-vma=%#x", corpusAddr), file).Output()
	if err != nil {
		t.Fatalf("objdump: %v", err)
	}
	var insts []string
	for line := range strings.Lines(string(out)) {
		if columns := strings.Split(strings.TrimSpace(line), "\t"); len(columns) == 3 {
			insts = append(insts, squeeze(columns[2]))
		}
	}
	if len(insts) != 1 {
		t.Fatalf("% x: objdump sees %q, not one instruction", text, insts)
	}
	return insts[0]
}
