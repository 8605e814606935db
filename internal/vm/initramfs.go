package vm

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/u-root/u-root/pkg/cpio"
	"golang.org/x/sys/unix"
)

// buildInitramfs returns a file without a name that holds the initramfs, and the
// plan that is in it.
func buildInitramfs(cfg *Config, image *Kernel) (*os.File, *guestPlan, error) {
	t := newTree()
	program := cmp.Or(cfg.Program, binaryPath)
	plan := &guestPlan{
		Program: program,
		Args:    append([]string{path.Base(program)}, cfg.Args...),
		Env:     append(guestEnv(), cfg.Env...),
		Dir:     cmp.Or(cfg.Dir, "/"),
		Marker:  "\x00" + rand.Text(),
	}
	t.directory(plan.Dir)
	if err := t.program(cfg.Binary); err != nil {
		return nil, nil, err
	}
	if err := t.busybox(); err != nil {
		return nil, nil, err
	}
	for _, f := range cfg.Files {
		if err := t.add(f.Host, f.Guest); err != nil {
			return nil, nil, err
		}
	}
	var err error
	if plan.Script, err = t.workload(cfg.Script); err != nil {
		return nil, nil, err
	}
	if plan.TransportModules, plan.Modules, err = t.modules(image, cfg.Modules); err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return nil, nil, err
	}
	t.put(cpio.StaticFile(planPath, string(text), 0o600))
	if err := t.fits(cfg.memory()); err != nil {
		return nil, nil, err
	}
	f, err := t.write()
	return f, plan, err
}

// fits reports whether a guest with so many MiB has room for the archive, for
// what is unpacked from it, and for the kernel. A kernel without room for its
// init panics.
func (t *tree) fits(memory int) error {
	var size uint64
	for _, r := range t.records {
		size += r.FileSize
	}
	const kernelNeeds = 160
	if needed := int(2*size>>20) + kernelNeeds; needed > memory {
		return fmt.Errorf("the program and the files for the guest have %d MiB, for which a guest of %d MiB is too small: -m %d is enough",
			size>>20, memory, needed)
	}
	return nil
}

func guestEnv() []string {
	env := []string{"PATH=/bin:/sbin:/usr/bin:/usr/sbin:/usr/local/bin", "HOME=/", "TMPDIR=/tmp", "USER=root", "SHELL=/bin/sh"}
	for _, name := range []string{"TERM", "LANG", "COLUMNS"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, entry := range os.Environ() {
		if strings.HasPrefix(entry, "DTRACE_OPT_") {
			env = append(env, entry)
		}
	}
	return env
}

// A tree is an initramfs in the making.
type tree struct {
	records map[string]cpio.Record // by path without leading slash
}

func newTree() *tree {
	t := &tree{map[string]cpio.Record{}}
	for _, dir := range []string{"/bin", "/dev", "/proc", "/sys", "/etc", "/run", "/root"} {
		t.directory(dir)
	}
	t.put(cpio.Directory("tmp", 0o1777))
	for dir := range binAliases {
		t.records[dir] = cpio.Symlink(dir, strings.Repeat("../", strings.Count(dir, "/"))+"bin")
	}
	t.directory("/usr")
	// Init's messages go there before the device file system is mounted.
	t.put(cpio.CharDev("dev/console", 0o600, 5, 1))
	t.put(cpio.StaticFile("etc/passwd", "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n", 0o644))
	t.put(cpio.StaticFile("etc/group", "root:x:0:\nnogroup:x:65534:\n", 0o644))
	t.put(cpio.StaticFile("etc/hosts", "127.0.0.1 localhost kinst\n", 0o644))
	return t
}

// binAliases are the names of /bin that are links in the guest.
var binAliases = map[string]bool{"sbin": true, "usr/bin": true, "usr/sbin": true}

// canonical returns the name of a record: no leading slash, nothing that leads
// through one of the links.
func canonical(name string) string {
	name = cpio.Normalize(name)
	for alias := range binAliases {
		if rest, ok := strings.CutPrefix(name+"/", alias+"/"); ok {
			return path.Join("bin", rest)
		}
	}
	return name
}

// put adds a record and the directories above it.
func (t *tree) put(r cpio.Record) {
	r.Name = canonical(r.Name)
	t.directory(path.Dir(r.Name))
	t.records[r.Name] = r
}

func (t *tree) has(name string) bool {
	_, ok := t.records[canonical(name)]
	return ok
}

func (t *tree) directory(name string) {
	for name = canonical(name); name != "." && name != ""; name = path.Dir(name) {
		if !t.has(name) {
			t.records[name] = cpio.Directory(name, 0o755)
		}
	}
}

// program adds the static executable at name, or the running one, as the program
// and as init.
func (t *tree) program(name string) error {
	if name == "" {
		name = "/proc/self/exe"
	}
	f, err := elf.Open(name)
	if err != nil {
		return fmt.Errorf("the program for the guest: %w", err)
	}
	defer f.Close()
	if interpreter(f) != "" {
		return fmt.Errorf("%s is linked dynamically and cannot run in the guest: build it with CGO_ENABLED=0", name)
	}
	if err := t.file(name, binaryPath, 0o755); err != nil {
		return err
	}
	t.put(cpio.Symlink(initPath, binaryPath[1:]))
	return nil
}

// interpreter returns the program interpreter that an executable asks for, or "".
func interpreter(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			text := make([]byte, p.Filesz)
			p.ReadAt(text, 0)
			return string(bytes.TrimRight(text, "\x00"))
		}
	}
	return ""
}

// busybox adds the host's busybox under all its names, where it has a static one.
func (t *tree) busybox() error {
	name, err := exec.LookPath("busybox")
	if err != nil {
		return nil
	}
	f, err := elf.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if interpreter(f) != "" {
		return nil
	}
	list, err := exec.Command(name, "--list").Output()
	if err != nil {
		return fmt.Errorf("%s --list: %w", name, err)
	}
	if err := t.file(name, busyboxPath, 0o755); err != nil {
		return err
	}
	for applet := range strings.FieldsSeq(string(list)) {
		if link := path.Join("/bin", applet); !t.has(link) {
			t.put(cpio.Symlink(link, "busybox"))
		}
	}
	return nil
}

// workload adds a shell script under its own path, or one read from a pipe
// under a made-up one, and returns that path.
func (t *tree) workload(script string) (string, error) {
	if script == "" {
		return "", nil
	}
	if !t.has(busyboxPath) {
		return "", errors.New("a shell script in the guest needs a static busybox, which this system does not have: apt-get install busybox-static")
	}
	text, err := os.ReadFile(script)
	if err != nil {
		return "", fmt.Errorf("the workload: %w", err)
	}
	guest := "/etc/workload"
	if fi, err := os.Stat(script); err == nil && fi.Mode().IsRegular() {
		if guest, err = filepath.Abs(script); err != nil {
			return "", err
		}
	}
	t.put(cpio.StaticFile(guest, string(text), 0o755))
	return guest, nil
}

// add adds a file of the host, or a directory with all below it.
func (t *tree) add(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		guest := path.Join(to, filepath.ToSlash(rel))
		if d.Type() == fs.ModeSymlink && name != from {
			target, err := os.Readlink(name)
			t.put(cpio.Symlink(guest, target))
			return err
		}
		fi, err := os.Stat(name)
		switch {
		case err != nil:
			return err
		case fi.IsDir():
			t.directory(guest)
			return nil
		case fi.Mode().IsRegular():
			if err := t.libraries(name); err != nil {
				return err
			}
			return t.file(name, guest, fi.Mode().Perm())
		}
		return fmt.Errorf("%s: only files and directories can be taken along", name)
	})
}

// file adds one file's content.
func (t *tree) file(from, to string, perm fs.FileMode) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	t.put(cpio.Record{ReaderAt: f, Info: cpio.Info{
		Name: to, Mode: cpio.S_IFREG | uint64(perm), FileSize: uint64(fi.Size()), MTime: uint64(fi.ModTime().Unix()),
	}})
	return nil
}

// write writes the archive, each directory before what is in it, and closes the
// files that were added.
func (t *tree) write() (*os.File, error) {
	fd, err := unix.MemfdCreate("initramfs", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "initramfs")
	w := cpio.Newc.Writer(f)
	for _, name := range slices.Sorted(maps.Keys(t.records)) {
		if err := w.WriteRecord(t.records[name]); err != nil {
			f.Close()
			return nil, fmt.Errorf("the guest's initramfs: %s: %w", name, err)
		}
	}
	if err := cpio.WriteTrailer(w); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
