package readme

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"kinst/internal/vm"
	"kinst/internal/vm/vmtest"
)

// work is what the one-liners watch: 1000 reads and writes of 4321 bytes,
// processes that open files, some time of the CPU.
const work = `
dd if=/dev/zero of=/dev/null bs=4321 count=1000 status=none
cat /proc/uptime >/dev/null
ls /proc/self >/dev/null
i=0
while [ $i -lt 2000 ]; do i=$((i + 1)); done
sleep 0.2
`

// want is what each one-liner must print, in the README's order.
var want = []string{
	`(?s)  dd +\n.*\n +4096 \|@+ +1000 +\n`,
	`(?m)^  0 +1[0-9]{3}$`,
	"(?m)^ +vmlinux`ksys_write\\+0x[0-9a-f]+$",
	`(?m) do_sys_openat2:0 cat /proc/uptime$`,
	`(?m)^  (ksys_read|vfs_read) +[0-9]+$`,
	`(?m)^ +[0-9]+ \|@+ +[0-9]+ +$`,
	`(?m)^ +[0-9]+ \|@+ +[0-9]+ +$`,
	`(?m)^  read +1[0-9]{3}$`,
	`(?m) openat:entry cat /proc/uptime$`,
	`(?m)^  dd +4321000$`,
	`(?m) :exec-success   sleep 0.2 +$`,
	"(?m)^ +vmlinux`",
	`(?m)^  sleep +[0-9]+$`,
	`(?m)^  [a-z/0-9_:]+ +[0-9]+$`,
}

func TestOneLiners(t *testing.T) {
	lines := oneLiners(t)
	if len(lines) != len(want) {
		t.Fatalf("README.md has %d one-liners, this test %d", len(lines), len(want))
	}
	var script strings.Builder
	fmt.Fprintf(&script, "cat >work.sh <<'END'%sEND\n", work)
	for i, line := range lines {
		if !strings.Contains(line, " -c ") {
			line += " -c 'sh work.sh'"
		}
		fmt.Fprintf(&script, "echo '@%d'; %s; echo status $?\n", i, line)
	}
	for _, kernel := range vmtest.Kernels() {
		t.Run(kernel, func(t *testing.T) {
			r := vmtest.Run(t, kernel, script.String(), vm.Config{Binary: vmtest.Kinst(t)})
			outputs := regexp.MustCompile(`(?m)^@\d+\n`).Split(r.Stdout, -1)[1:]
			if len(outputs) != len(lines) {
				t.Fatalf("%d outputs of %d:\n%s%s", len(outputs), len(lines), r.Stdout, r.Stderr)
			}
			for i, out := range outputs {
				if !strings.HasSuffix(out, "\nstatus 0\n") {
					t.Errorf("%s:\n%s%s", lines[i], out, r.Stderr)
				}
				if !regexp.MustCompile(want[i]).MatchString(out) {
					t.Errorf("%s: nothing matches %s:\n%s", lines[i], want[i], out)
				}
			}
		})
	}
}

// oneLiners returns the commands of the README's section One-liners.
func oneLiners(t *testing.T) []string {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## One-liners\n")
	_, section, _ = strings.Cut(section, "```console\n")
	section, _, _ = strings.Cut(section, "```")
	var lines []string
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "# "); ok {
			lines = append(lines, strings.TrimSpace(command))
		}
	}
	return lines
}
