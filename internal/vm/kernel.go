package vm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Kernel is a kernel image that can be booted.
type Kernel struct {
	Path    string
	Release string // as uname -r gives it; empty where the image does not say
	// ModuleDir holds the kernel's modules; empty where there are none.
	ModuleDir string
}

// FindKernel returns the kernel that a name means: a path to an image (a name
// with a slash, or of an existing file), or a release or its beginning ("6.12"
// means 6.12.3-cloud-amd64 but not 6.1.2), looked up in the cache that [Fetch]
// fills and in /boot; of several, the newest. An empty name means the newest of
// all.
func FindKernel(name string) (*Kernel, error) {
	if err := checkHost(); err != nil {
		return nil, err
	}
	return findKernel(name, kernelRoots())
}

// Releases returns the releases of the kernels in the cache and in /boot.
func Releases() ([]string, error) {
	if err := checkHost(); err != nil {
		return nil, err
	}
	kernels, err := kernelsBelow(kernelRoots())
	var releases []string
	for _, k := range kernels {
		releases = append(releases, k.Release)
	}
	return releases, err
}

// kernelRoots are patterns of directories with a boot and perhaps a lib/modules
// each.
func kernelRoots() []string { return []string{filepath.Join(kernelCache(), "[^.]*"), "/"} }

func findKernel(name string, roots []string) (*Kernel, error) {
	if strings.Contains(name, "/") {
		return kernelAt(name)
	}
	if fi, err := os.Stat(name); name != "" && err == nil && fi.Mode().IsRegular() {
		return kernelAt(name)
	}
	found, err := kernelsBelow(roots)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(k *Kernel) bool { return !beginsRelease(k.Release, name) })
	if len(found) == 0 {
		return nil, missingKernel(name)
	}
	return slices.MaxFunc(found, func(a, b *Kernel) int { return compareReleases(a.Release, b.Release) }), nil
}

func kernelsBelow(roots []string) (found []*Kernel, err error) {
	for _, root := range roots {
		images, err := filepath.Glob(filepath.Join(root, "boot", host.image+"*"))
		if err != nil {
			return nil, err
		}
		for _, path := range images {
			release := strings.TrimPrefix(filepath.Base(path), host.image)
			found = append(found, &Kernel{path, release, moduleDir(path, release)})
		}
	}
	return found, nil
}

func missingKernel(name string) error {
	if name == "" {
		return errors.New("no kernel to boot was found in /boot or in the cache: 'kinst vm fetch 6.12' gets one, -k takes a path")
	}
	return fmt.Errorf("no kernel %s was found in /boot or in the cache: 'kinst vm fetch %[1]s' gets one, -k takes a path too", name)
}

// kernelAt returns the kernel whose image is at path.
func kernelAt(path string) (*Kernel, error) {
	release, err := host.release(path)
	if err != nil {
		return nil, err
	}
	return &Kernel{path, release, moduleDir(path, release)}, nil
}

// moduleDir returns the directory of the modules for an image: lib/modules/RELEASE
// beside the image, beside the image's directory (as boot is), or of the host.
func moduleDir(image, release string) string {
	if release == "" {
		return ""
	}
	dir := filepath.Dir(image)
	for _, root := range []string{dir, filepath.Dir(dir), filepath.Join(filepath.Dir(dir), "usr"), "/"} {
		d := filepath.Join(root, "lib", "modules", release)
		if fi, err := os.Stat(filepath.Join(d, "kernel")); err == nil && fi.IsDir() {
			return d
		}
	}
	return ""
}

// beginsRelease reports whether prefix is release or begins it with whole
// numbers: 6.1 begins 6.1.0-5 and not 6.12.
func beginsRelease(release, prefix string) bool {
	rest, ok := strings.CutPrefix(release, prefix)
	if !ok || prefix == "" || rest == "" {
		return ok
	}
	return !(isDigit(rest[0]) && isDigit(prefix[len(prefix)-1]))
}

// compareReleases orders releases as versions: numbers by value, the rest as
// text.
func compareReleases(a, b string) int {
	for a != "" && b != "" {
		x, restA := releaseItem(a)
		y, restB := releaseItem(b)
		m, errM := strconv.Atoi(x)
		n, errN := strconv.Atoi(y)
		c := cmp.Compare(x, y)
		if errM == nil && errN == nil {
			c = cmp.Compare(m, n)
		}
		if c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// releaseItem cuts the number, or the text without digits, that s begins with.
func releaseItem(s string) (item, rest string) {
	n := 1
	for n < len(s) && isDigit(s[n]) == isDigit(s[0]) {
		n++
	}
	return s[:n], s[n:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// kernelCache returns the directory of the kernels that [Fetch] got, a directory
// each.
func kernelCache() string { return filepath.Join(cacheDir(), "kernels") }

// cacheDir returns the directory that kinst keeps kernels in: $KINST_CACHE, else
// kinst in the user's cache directory.
func cacheDir() string {
	if dir := os.Getenv("KINST_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil { // neither $XDG_CACHE_HOME nor $HOME
		dir = "/var/cache"
	}
	return filepath.Join(dir, "kinst")
}
