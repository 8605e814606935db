package vm

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/u-root/u-root/pkg/cpio"
	"github.com/ulikunitz/xz"
)

// transportModules are the drivers of the virtio-serial ports. What of them the
// kernel has built in has no file.
var transportModules = []string{"virtio_pci", "virtio_console"}

// A moduleSet finds the modules of one kernel.
type moduleSet struct {
	dir     string
	files   map[string]string // by name: the module's file
	builtin map[string]bool
}

// openModules reads the names of the modules below dir, a kernel's directory of
// modules.
func openModules(dir string) (*moduleSet, error) {
	s := &moduleSet{dir: dir, files: map[string]string{}, builtin: map[string]bool{}}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if name, ok := moduleName(file); err == nil && ok && !d.IsDir() {
			s.files[name] = file
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	list, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for file := range strings.FieldsSeq(string(list)) {
		if name, ok := moduleName(file); ok {
			s.builtin[name] = true
		}
	}
	return s, nil
}

// moduleName returns the name of the module in a file. The kernel makes no
// difference between - and _.
func moduleName(file string) (string, bool) {
	base := filepath.Base(file)
	for _, suffix := range []string{".ko", ".ko.gz", ".ko.xz", ".ko.zst"} {
		if name, ok := strings.CutSuffix(base, suffix); ok {
			return strings.ReplaceAll(name, "-", "_"), true
		}
	}
	return "", false
}

// A module is a module's name and its content, not compressed.
type module struct {
	name string
	text []byte
}

// closure returns the named modules and all that they need, each after those it
// needs. Modules that are built in are left out.
func (s *moduleSet) closure(names []string) ([]module, error) {
	var order []module
	done := map[string]bool{}
	var visit func(name, user string) error
	visit = func(name, user string) error {
		name = strings.ReplaceAll(name, "-", "_")
		if done[name] || s.builtin[name] {
			return nil
		}
		done[name] = true
		file, ok := s.files[name]
		if !ok {
			return s.missing(name, user)
		}
		text, err := readModule(file)
		if err != nil {
			return err
		}
		needs, wants, err := moduleNeeds(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, n := range wants {
			if s.has(n) {
				needs = append(needs, n)
			}
		}
		for _, n := range needs {
			if err := visit(n, name); err != nil {
				return err
			}
		}
		order = append(order, module{name, text})
		return nil
	}
	for _, name := range names {
		if err := visit(name, ""); err != nil {
			return nil, err
		}
	}
	return order, nil
}

func (s *moduleSet) has(name string) bool {
	_, ok := s.files[strings.ReplaceAll(name, "-", "_")]
	return ok
}

func (s *moduleSet) missing(name, user string) error {
	if user != "" {
		return fmt.Errorf("the module %s, which %s needs, is not in %s", name, user, s.dir)
	}
	return fmt.Errorf("no module %s is in %s", name, s.dir)
}

// readModule returns the content of a module's file, decompressed.
func readModule(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := decompressor(f, filepath.Ext(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return text, nil
}

func decompressor(r io.Reader, suffix string) (io.Reader, error) {
	switch suffix {
	case ".gz":
		return gzip.NewReader(r)
	case ".xz":
		return xz.NewReader(r)
	case ".zst":
		d, err := zstd.NewReader(r)
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return r, nil
}

// moduleNeeds returns the modules that a module cannot be loaded without, its
// "depends", and those that it wants loaded before it, the first part of its
// "softdep", which may be missing. Modules say it themselves, so that
// modules.dep, which an unpacked package does not have, is not needed.
func moduleNeeds(text []byte) (needs, wants []string, err error) {
	f, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	section := f.Section(".modinfo")
	if section == nil {
		return nil, nil, errors.New("no .modinfo section: not a kernel module")
	}
	info, err := section.Data()
	if err != nil {
		return nil, nil, err
	}
	for entry := range strings.SplitSeq(string(info), "\x00") {
		if list, ok := strings.CutPrefix(entry, "depends="); ok && list != "" {
			needs = append(needs, strings.Split(list, ",")...)
		}
		if list, ok := strings.CutPrefix(entry, "softdep="); ok {
			before, _, _ := strings.Cut(list, "post:")
			wants = append(wants, strings.Fields(strings.TrimPrefix(before, "pre:"))...)
		}
	}
	return needs, wants, nil
}

// modules adds the transport's modules and the named ones, with all they need,
// and returns the paths of either in the order of loading.
func (t *tree) modules(image *Kernel, names []string) (transport, asked []string, err error) {
	if image.ModuleDir == "" {
		if len(names) > 0 {
			return nil, nil, fmt.Errorf("modules were asked for (%s), but there is no lib/modules/%s beside %s",
				strings.Join(names, ", "), image.Release, image.Path)
		}
		return nil, nil, nil
	}
	set, err := openModules(image.ModuleDir)
	if err != nil {
		return nil, nil, err
	}
	// A kernel without the drivers has serial ports.
	if drivers, err := set.closure(transportModules); err == nil {
		transport = t.loadable(drivers)
	}
	wanted, err := set.closure(names)
	if err != nil {
		return nil, nil, err
	}
	return transport, t.loadable(wanted), nil
}

// loadable adds the files of modules and returns their paths.
func (t *tree) loadable(modules []module) []string {
	var paths []string
	for _, m := range modules {
		name := path.Join(moduleRoot, m.name+".ko")
		t.put(cpio.StaticRecord(m.text, cpio.Info{Name: name, Mode: cpio.S_IFREG | 0o644}))
		paths = append(paths, name)
	}
	return paths
}
