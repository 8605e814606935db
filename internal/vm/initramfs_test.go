package vm

import (
	"debug/elf"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// assemble returns the object file of an assembler source.
func assemble(t *testing.T, source string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "a.o")
	cmd := exec.Command("as", "-o", out, "-")
	cmd.Stdin = strings.NewReader(source)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("as: %v\n%s", err, text)
	}
	image, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// unpackWithBusybox unpacks an initramfs with a program that is not ours.
func unpackWithBusybox(t *testing.T, ramfs *os.File) string {
	t.Helper()
	if _, err := ramfs.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command("busybox", "cpio", "-idm")
	cmd.Dir = dir
	cmd.Stdin = ramfs
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cpio: %v\n%s", err, text)
	}
	return dir
}

func TestInitramfs(t *testing.T) {
	host := t.TempDir()
	plant(t, host, map[string][]byte{
		"work.sh":      []byte("echo hello\n"),
		"data/a":       []byte("a"),
		"data/sub/b":   []byte("b"),
		"single":       []byte("\x00\x01"),
		"other/script": []byte("in the way of nothing"),
	})
	if err := os.Chmod(filepath.Join(host, "single"), 0o751); err != nil {
		t.Fatal(err)
	}
	args := []string{"-n", `kinst::vfs_read: /execname == "dd"/ {printf("a b\n");}`, "", "ü'\""}
	cfg := Config{
		Args: args, Env: []string{"X=a b"}, Dir: "/deep/down",
		Script: filepath.Join(host, "work.sh"),
		Files: []File{
			{filepath.Join(host, "data"), "/opt/data"},
			{filepath.Join(host, "single"), "/usr/bin/single"},
		},
	}
	ramfs, plan, err := buildInitramfs(&cfg, &Kernel{Path: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer ramfs.Close()
	root := unpackWithBusybox(t, ramfs)

	for name, want := range map[string]string{
		"opt/data/a": "a", "opt/data/sub/b": "b", "bin/single": "\x00\x01", cfg.Script: "echo hello\n",
	} {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if fi, err := os.Stat(filepath.Join(root, "bin/single")); err != nil || fi.Mode().Perm() != 0o751 {
		t.Errorf("bin/single: %v, %v", fi, err)
	}
	if fi, err := os.Stat(filepath.Join(root, "deep/down")); err != nil || !fi.IsDir() {
		t.Errorf("the program's directory: %v, %v", fi, err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(root, binaryPath)); err != nil || !slices.Equal(got, self) {
		t.Errorf("%s differs from the running program: %v", binaryPath, err)
	}
	if target, err := os.Readlink(filepath.Join(root, initPath)); err != nil || "/"+target != binaryPath {
		t.Errorf("%s: %q, %v", initPath, target, err)
	}

	text, err := os.ReadFile(filepath.Join(root, planPath))
	if err != nil {
		t.Fatal(err)
	}
	var got guestPlan
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*plan, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append([]string{"kinst"}, args...), got.Args); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(got.Env, "X=a b") || got.Script != cfg.Script || got.Dir != "/deep/down" {
		t.Errorf("got %+v", got)
	}
}

func TestInitramfsTakesLibrariesAlong(t *testing.T) {
	tree := newTree()
	if err := tree.add("/bin/bash", "/bin/bash"); err != nil {
		t.Fatal(err)
	}
	ramfs, err := tree.write()
	if err != nil {
		t.Fatal(err)
	}
	defer ramfs.Close()
	root := unpackWithBusybox(t, ramfs)
	out, err := exec.Command("chroot", root, "/bin/bash", "-c", "echo $((6*7))").CombinedOutput()
	if err != nil || string(out) != "42\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestLibraryPaths(t *testing.T) {
	const list = `	linux-vdso.so.1 (0x00007ffc5a7f2000)
	libtinfo.so.6 => /lib/x86_64-linux-gnu/libtinfo.so.6 (0x00007f30f7a00000)
	libmissing.so => not found
	/lib64/ld-linux-x86-64.so.2 (0x00007f30f7c42000)
`
	want := []string{"/lib/x86_64-linux-gnu/libtinfo.so.6", "/lib64/ld-linux-x86-64.so.2"}
	if diff := cmp.Diff(want, libraryPaths(list)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusals(t *testing.T) {
	image := &Kernel{Path: "/boot/image", Release: "6.12.1"}
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"a dynamic program", Config{Binary: dynamicProgram(t)}, "is linked dynamically and cannot run in the guest: build it with CGO_ENABLED=0"},
		{"no program", Config{Binary: "/etc/passwd"}, "the program for the guest: "},
		{"a missing file", Config{Files: []File{{"/no/such/file", "/x"}}}, "/no/such/file: no such file"},
		{"a device", Config{Files: []File{{"/dev/null", "/x"}}}, "/dev/null: only files and directories"},
		{"a missing script", Config{Script: "/no/such/script"}, "the workload: "},
		{"modules without a place", Config{Modules: []string{"ext4"}}, "there is no lib/modules/6.12.1 beside /boot/image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := buildInitramfs(&c.cfg, image); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func dynamicProgram(t *testing.T) string {
	t.Helper()
	const path = "/bin/bash"
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if interpreter(f) == "" {
		t.Fatalf("%s is static", path)
	}
	return path
}
