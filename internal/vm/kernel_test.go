package vm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// bzImage is the beginning of a kernel image whose header names a release.
func bzImage(release string) []byte {
	image := make([]byte, 0x400)
	copy(image[0x202:], "HdrS")
	image[0x20f] = 0x01 // the release is at 0x200 + 0x100
	copy(image[0x300:], release+" (builder) #1 SMP\x00")
	return image
}

// plant makes files, a directory for each name that ends in a slash.
func plant(t *testing.T, root string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			path += "/."
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindKernel(t *testing.T) {
	root := t.TempDir()
	names := []string{"6.1.0-9-cloud-amd64", "6.1.0-57-cloud-amd64", "6.12.117+deb12-cloud-amd64", "6.9.1"}
	for i, release := range names {
		plant(t, filepath.Join(root, "cache", string(rune('a'+i))), map[string][]byte{
			"boot/" + host.image + release:         bzImage(release),
			"lib/modules/" + release + "/kernel/x": nil,
		})
	}
	plant(t, filepath.Join(root, "cache", ".fetch-1"), map[string][]byte{"boot/" + host.image + "7.0.0": bzImage("7.0.0")})
	plant(t, root, map[string][]byte{
		"build/arch/x86/boot/bzImage":             bzImage("6.13.0-rc1+"),
		"build/arch/x86/boot/lib/modules/unused/": nil,
		"text": []byte("no kernel"),
	})
	roots := []string{filepath.Join(root, "cache", "[^.]*")}
	for _, c := range []struct{ name, release, err string }{
		{"6.1", "6.1.0-57-cloud-amd64", ""},
		{"6.1.0-9", "6.1.0-9-cloud-amd64", ""},
		{"6.12", "6.12.117+deb12-cloud-amd64", ""},
		{"6", "6.12.117+deb12-cloud-amd64", ""},
		{"", "6.12.117+deb12-cloud-amd64", ""},
		{"6.9.1", "6.9.1", ""},
		{"5.10", "", "no kernel 5.10 was found in /boot or in the cache: 'kinst vm fetch 5.10' gets one"},
		{"7", "", "no kernel 7 was found"},
		{filepath.Join(root, "build/arch/x86/boot/bzImage"), "6.13.0-rc1+", ""},
		{filepath.Join(root, "text"), "", "no bootable kernel image"},
		{filepath.Join(root, "nothing"), "", "no such file"},
	} {
		k, err := findKernel(c.name, roots)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil || k.Release != c.release {
			t.Errorf("%q: got %+v, %v, want %s", c.name, k, err, c.release)
			continue
		}
		if hasModules := k.ModuleDir != ""; hasModules != strings.HasPrefix(k.Path, filepath.Join(root, "cache")) {
			t.Errorf("%q: modules %q", c.name, k.ModuleDir)
		}
	}
}

func TestCompareReleases(t *testing.T) {
	ordered := []string{"5.10.0-1", "6.1.0-9-amd64", "6.1.0-57-amd64", "6.1.10", "6.9", "6.12-cloud", "6.12.3", "6.12.117+deb12", "7.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := compareReleases(a, b); sign(got) != sign(i-j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestNewestPackaged(t *testing.T) {
	packages := strings.Fields(`
		linux-image-6.12-cloud-amd64 linux-image-6.12-amd64 linux-image-6.12-amd64-dbg
		linux-image-6.12.115+deb12-cloud-amd64 linux-image-6.12.117+deb12-cloud-amd64-unsigned
		linux-image-6.12.117+deb12-cloud-amd64 linux-image-6.12.117+deb12-cloud-amd64-dbg
		linux-image-6.12.117+deb12-rt-amd64 linux-image-6.12.118+deb12-amd64
		linux-image-6.1.0-57-cloud-amd64 linux-image-6.1.0-9-cloud-amd64 linux-image-6.1.0-57-amd64
		linux-image-6.8.0-40-lowlatency linux-image-6.8.0-41-generic
		linux-image-6.9.7-amd64 linux-image-6.9.7-rt-amd64`)
	for prefix, want := range map[string]string{
		"6.12":                    "6.12.117+deb12-cloud-amd64",
		"6.1":                     "6.1.0-57-cloud-amd64",
		"6.1.0-9":                 "6.1.0-9-cloud-amd64",
		"6.12.117+deb12-rt-amd64": "6.12.117+deb12-rt-amd64",
		"6.12.118":                "6.12.118+deb12-amd64",
		"6.8":                     "6.8.0-41-generic",
		"6.9":                     "6.9.7-amd64",
		"5":                       "",
	} {
		if got := newestPackaged(packages, prefix, "amd64"); got != want {
			t.Errorf("%s: got %q, want %q", prefix, got, want)
		}
	}
}
