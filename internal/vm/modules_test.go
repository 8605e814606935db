package vm

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// moduleImage makes an ELF file with a .modinfo section, with the machine's own
// assembler.
func moduleImage(t *testing.T, info ...string) []byte {
	t.Helper()
	source := ".section .modinfo,\"a\"\n"
	for _, entry := range info {
		source += ".asciz \"" + entry + "\"\n"
	}
	return assemble(t, source)
}

func TestModuleClosure(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string][]byte{
		"kernel/fs/ext4/ext4.ko":      moduleImage(t, "license=GPL", "depends=jbd2,mbcache", "name=ext4"),
		"kernel/fs/jbd2/jbd2.ko":      moduleImage(t, "depends="),
		"kernel/fs/mbcache.ko":        moduleImage(t, "depends=crc-x"),
		"kernel/lib/crc-x.ko":         moduleImage(t, "depends="),
		"kernel/drivers/broken.ko":    []byte("not ELF"),
		"kernel/drivers/orphan.ko":    moduleImage(t, "depends=missing_one"),
		"kernel/drivers/on_top.ko":    moduleImage(t, "depends=crc_x,virtio"),
		"kernel/crypto/soft.ko":       moduleImage(t, "softdep=pre: crc_x not_here post: jbd2", "depends="),
		"kernel/drivers/readme.ko.md": []byte("no module"),
		"modules.builtin":             []byte("kernel/drivers/virtio/virtio.ko\n"),
	})
	set, err := openModules(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ask, want, err string }{
		{"ext4", "jbd2 crc_x mbcache ext4", ""},
		{"crc-x", "crc_x", ""},
		{"crc_x ext4 jbd2", "crc_x jbd2 mbcache ext4", ""},
		{"on_top virtio", "crc_x on_top", ""},
		{"soft", "crc_x soft", ""},
		{"", "", ""},
		{"nfs", "", "no module nfs is in"},
		{"orphan", "", "the module missing_one, which orphan needs, is not in"},
		{"broken", "", "broken.ko: "},
	} {
		modules, err := set.closure(strings.Fields(c.ask))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.ask, err, c.err)
			}
			continue
		}
		var names []string
		for _, m := range modules {
			names = append(names, m.name)
		}
		if err != nil || !slices.Equal(names, strings.Fields(c.want)) {
			t.Errorf("%q: got %v, %v, want %s", c.ask, names, err, c.want)
		}
	}
}

func TestReadModuleDecompresses(t *testing.T) {
	const text = "the module's content"
	for suffix, compressor := range map[string]func(io.Writer) (io.WriteCloser, error){
		"":     func(w io.Writer) (io.WriteCloser, error) { return nopCloser{w}, nil },
		".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		".xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		path := filepath.Join(t.TempDir(), "m.ko"+suffix)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := compressor(f)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
		w.Close()
		f.Close()
		if got, err := readModule(path); err != nil || string(got) != text {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
