package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kinst/internal/vm"
)

func TestMebibytes(t *testing.T) {
	for text, want := range map[string]int{
		"512": 512, "512M": 512, "2G": 2048, "0": 0, "-1": 0, "": 0, "G": 0, "1K": 0, "99999999999G": 0, "1.5G": 0,
	} {
		got, err := mebibytes(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestFilesToTake(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a", "b:c"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		operand string
		want    vm.File
		err     string
	}{
		{"a", vm.File{Host: "a", Guest: filepath.Join(dir, "a")}, ""},
		{"a:/opt/x", vm.File{Host: "a", Guest: "/opt/x"}, ""},
		{"a:x", vm.File{Host: "a", Guest: filepath.Join(dir, "x")}, ""},
		{"b:c", vm.File{Host: "b:c", Guest: filepath.Join(dir, "b:c")}, ""},
		{"b:c:/opt/x", vm.File{Host: "b:c", Guest: "/opt/x"}, ""},
		{filepath.Join(dir, "a"), vm.File{Host: filepath.Join(dir, "a"), Guest: filepath.Join(dir, "a")}, ""},
		{"d", vm.File{}, "--with: stat d: no such file"},
	} {
		got, err := filesToTake([]string{c.operand})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.operand, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.operand, err)
			continue
		}
		if diff := cmp.Diff([]vm.File{c.want}, got); diff != "" {
			t.Errorf("%s: %s", c.operand, diff)
		}
	}
}

// Arguments after -- are kinst's in the guest, whatever they look like.
func TestVMArguments(t *testing.T) {
	for _, c := range []struct {
		args []string
		err  string
	}{
		{nil, "what kinst shall do in the guest is missing"},
		{[]string{"-m", "x", "--", "-V"}, "-m x: an amount of memory"},
		{[]string{"--smp", "0", "--", "-V"}, "--smp 0: a guest has at least one CPU"},
		{[]string{"--smp", "-1", "--", "-V"}, "--smp -1: a guest has at least one CPU"},
		{[]string{"--smp", "x", "--", "-V"}, `invalid argument "x" for "--smp" flag`},
		{[]string{"--no-such-flag"}, "unknown flag"},
		{[]string{"-k", "0.1", "--", "-m", "x"}, "no kernel 0.1 was found"},
		{[]string{"--with", "/no/such", "--", "-V"}, "--with: stat /no/such"},
		{[]string{"fetch"}, "vm fetch takes the releases of kernels, as in: kinst vm fetch 6.12"},
	} {
		cmd := newVMCommand()
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: error %v, want %q", c.args, err, c.err)
		}
	}
}
