package vm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Fetch puts the newest packaged kernel of each of the releases, or beginnings
// of releases, into the cache: image and modules, unpacked from the
// distribution's package. Nothing is installed. What it does goes to progress,
// a line each.
func Fetch(ctx context.Context, releases []string, progress io.Writer) error {
	if err := checkHost(); err != nil {
		return err
	}
	for _, tool := range []string{"apt-get", "apt-cache", "dpkg"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("fetching kernels needs %s, which this system does not have; 'kinst vm -k PATH' boots any kernel image", tool)
		}
	}
	arch, err := output(ctx, "", "dpkg", "--print-architecture")
	if err != nil {
		return err
	}
	for _, release := range releases {
		if err := fetch(ctx, release, strings.TrimSpace(arch), progress); err != nil {
			return err
		}
	}
	return nil
}

const imagePackage = "linux-image-"

// fetch fetches one kernel, unless the cache has it.
func fetch(ctx context.Context, prefix, arch string, progress io.Writer) error {
	names, err := output(ctx, "", "apt-cache", "pkgnames", imagePackage+prefix)
	if err != nil {
		return err
	}
	release := newestPackaged(strings.Fields(names), prefix, arch)
	if release == "" {
		return fmt.Errorf("apt knows no kernel package %s%s*: 'apt-get update' renews its lists, 'apt-cache pkgnames %[1]s' shows what there is", imagePackage, prefix)
	}
	final := filepath.Join(kernelCache(), release)
	if fi, err := os.Stat(final); err == nil && fi.IsDir() {
		fmt.Fprintf(progress, "%s is in the cache\n", release)
		return nil
	}
	fmt.Fprintf(progress, "%s: fetching\n", release)
	if err := os.MkdirAll(kernelCache(), 0o755); err != nil {
		return err
	}
	// Renamed when complete: an interrupted fetch leaves nothing that looks like
	// a kernel.
	tmp, err := os.MkdirTemp(kernelCache(), ".fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := unpack(ctx, imagePackage+release, tmp); err != nil {
		return err
	}
	tree := filepath.Join(tmp, "tree")
	if _, err := os.Stat(filepath.Join(tree, "boot", host.image+release)); err != nil {
		return fmt.Errorf("the package %s%s has no kernel image in /boot", imagePackage, release)
	}
	err = os.Rename(tree, final)
	if errors.Is(err, fs.ErrExist) { // another fetch was faster
		err = nil
	}
	fmt.Fprintf(progress, "%s: unpacked into %s\n", release, final)
	return err
}

// unpack downloads a package into dir and unpacks it into dir/tree.
func unpack(ctx context.Context, name, dir string) error {
	args := []string{"download", "-qq"}
	if os.Geteuid() == 0 {
		// apt's own user cannot write to dir, which apt would warn of.
		args = append(args, "-o", "APT::Sandbox::User=root")
	}
	if _, err := output(ctx, dir, "apt-get", append(args, name)...); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(packages) != 1 {
		return fmt.Errorf("apt-get download %s left no package in %s", name, dir)
	}
	tree := filepath.Join(dir, "tree")
	if _, err := output(ctx, dir, "dpkg", "-x", packages[0], tree); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(tree, "usr", "share")); err != nil {
		return err
	}
	return os.Chmod(tree, 0o755)
}

var (
	completeRelease = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]`)  // not those of meta-packages
	variantPackage  = regexp.MustCompile(`-(unsigned|dbg|dbgsym)$`) // beside the image itself
	flavour         = regexp.MustCompile(`-[a-z][a-z0-9]*$`)        // of a release without architecture
)

// newestPackaged returns the newest release among the names of packages which
// begins with prefix: of the flavours, the one for virtual machines before the
// plain one before any other.
func newestPackaged(packages []string, prefix, arch string) string {
	var releases []string
	for _, name := range packages {
		release, ok := strings.CutPrefix(name, imagePackage)
		if ok && beginsRelease(release, prefix) && completeRelease.MatchString(release) && !variantPackage.MatchString(release) {
			releases = append(releases, release)
		}
	}
	if len(releases) == 0 {
		return ""
	}
	rank := func(release string) int {
		base, ofArch := strings.CutSuffix(release, "-"+arch)
		switch {
		case strings.HasSuffix(base, "-cloud"):
			return 2
		case ofArch && !flavour.MatchString(base):
			return 1
		}
		return 0
	}
	return slices.MaxFunc(releases, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), compareReleases(a, b))
	})
}

// output runs a command in dir and returns its standard output.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
