package packaging

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Sessions in pods and on the node itself know of each other by the directory
// that the manual page names.
func TestDaemonSetSharesState(t *testing.T) {
	page := read(t, "../man/kinst.1")
	_, files, _ := strings.Cut(page, ".Sh FILES\n")
	dir := regexp.MustCompile(`\.It Pa (\S+)`).FindStringSubmatch(files)
	if dir == nil {
		t.Fatal("the manual page names no file")
	}
	yaml := read(t, "daemonset.yaml")
	mount := regexp.MustCompile(`- name: (\w+)\s+mountPath: ` + dir[1] + `\n`).FindStringSubmatch(yaml)
	if mount == nil {
		t.Fatalf("%s is not mounted", dir[1])
	}
	volume := regexp.MustCompile(`- name: ` + mount[1] + `\b.*\s+hostPath:\s+path: ` + dir[1] + `\s+type: DirectoryOrCreate\n`)
	if !volume.MatchString(yaml) {
		t.Errorf("the volume %s is not the node's %s", mount[1], dir[1])
	}
}

// Every directory of the node that the pod has, a container of the image alone
// is told to have as well.
func TestDockerfileMounts(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	for _, m := range regexp.MustCompile(`mountPath: (\S+)`).FindAllStringSubmatch(read(t, "daemonset.yaml"), -1) {
		if !strings.Contains(dockerfile, "-v "+m[1]+":"+m[1]) {
			t.Errorf("the Dockerfile does not say how to mount %s", m[1])
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
