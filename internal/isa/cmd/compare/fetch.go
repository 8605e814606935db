package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// fetchRelease unpacks the debug package of Debian's newest cloud kernel of
// the release in the user's cache directory, once, and returns the place.
func fetchRelease(release string) (string, error) {
	pkg, err := newestPackage(release)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "kinst", "images", pkg)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), pkg+"-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := unpackPackage(pkg, work); err != nil {
		return "", err
	}
	return dir, os.Rename(filepath.Join(work, "x"), dir)
}

func unpackPackage(pkg, work string) error {
	fmt.Fprintln(os.Stderr, "downloading", pkg)
	if err := command(work, "apt-get", "download", pkg); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil || len(debs) != 1 {
		return fmt.Errorf("apt-get download %s: left %d packages in %s", pkg, len(debs), work)
	}
	return command(work, "dpkg", "-x", debs[0], "x")
}

func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

// newestPackage names the newest debug package of a release.
func newestPackage(release string) (string, error) {
	out, err := exec.Command("apt-cache", "pkgnames", "linux-image-"+release+".").Output()
	if err != nil {
		return "", fmt.Errorf("apt-cache pkgnames: %w", err)
	}
	name := regexp.MustCompile(`^linux-image-(\d.*)-cloud-amd64-dbg$`)
	newest, version := "", ""
	for pkg := range strings.FieldsSeq(string(out)) {
		m := name.FindStringSubmatch(pkg)
		if m != nil && (version == "" || newer(m[1], version)) {
			newest, version = pkg, m[1]
		}
	}
	if newest == "" {
		return "", fmt.Errorf("release %s: apt knows no linux-image-%s.*-cloud-amd64-dbg; run apt-get update, or name the images", release, release)
	}
	return newest, nil
}

func newer(a, b string) bool {
	return exec.Command("dpkg", "--compare-versions", a, "gt", b).Run() == nil
}
