package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"kinst/internal/cli"
	"kinst/internal/vm/vmtest"
)

// commands are what the scripts run beside busybox: this test binary under
// other names.
var commands = map[string]func(){
	"kinst":  func() { os.Exit(cli.Main(os.Args)) },
	"dtrace": func() { os.Exit(cli.Main(os.Args)) },

	"getpriority": getPriority,
	"setuid":      setUID,
}

// getPriority N makes so many system calls of a kind that nobody else makes.
func getPriority() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for range n {
		unix.RawSyscall(unix.SYS_GETPRIORITY, unix.PRIO_PROCESS, 0, 0)
	}
}

// setUID N becomes user 1000 so many times, and root again in between.
func setUID() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	runtime.LockOSThread()
	for range n {
		unix.RawSyscall(unix.SYS_SETRESUID, 0, 0, 0)
		unix.RawSyscall(unix.SYS_SETRESUID, 1000, 1000, 0)
	}
}

// TestMain runs the tests in a guest of each kernel. There the test binary is
// started under the name of the program that it stands for, kinst.
func TestMain(m *testing.M) {
	switch _, isCommand := commands[filepath.Base(os.Args[0])]; {
	case vmtest.InGuest():
		os.Args[0] = "tests.test"
	case !isCommand:
		vmtest.Modules = []string{"dummy"}
		vmtest.Main(m) // exits
	}
	testscript.Main(m, commands)
}

// TestGuest runs the scripts of testdata/guest.
func TestGuest(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/guest",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"allcounted":   allCounted,
			"firstblock":   firstBlock,
			"samehex":      sameHex,
			"skipscounted": skipsCounted,
		},
	})
}

// firstBlock LISTING COUNTS MIN: every instruction of the listing's first block
// has the same count, which is at least MIN.
func firstBlock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: firstblock listing counts min")
	}
	least := number(ts, args[2])
	counts := make(map[string]int)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if f := strings.Fields(line); len(f) == 2 {
			counts[f[0]] = number(ts, f[1])
		}
	}
	block := straight(ts.ReadFile(args[0]))
	if len(block) < 4 {
		ts.Fatalf("the first block has %d instructions; something is wrong with the listing", len(block))
	}
	for _, offset := range block {
		if n := counts[offset]; n < least || n != counts[block[0]] {
			ts.Fatalf("the instruction at %s: count %d, that at %s: %d", offset, n, block[0], counts[block[0]])
		}
	}
}

// inst matches an instruction that can be probed in a listing without bytes.
var inst = regexp.MustCompile(`^   0x[0-9a-f]+ <\+(\d+)>:\t(\S+)`)

// straight returns the offsets of the instructions up to the first that goes
// elsewhere, and those only that can be probed.
func straight(listing string) []string {
	var offsets []string
	for line := range strings.Lines(listing) {
		if strings.HasPrefix(line, "!") {
			continue
		}
		m := inst.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		offsets = append(offsets, m[1])
		if m[2][0] == 'j' || strings.HasPrefix(m[2], "call") || strings.HasPrefix(m[2], "ret") {
			break
		}
	}
	return offsets
}

var (
	drops   = regexp.MustCompile(`(?m)^kinst: ([0-9]+) drops? on CPU [0-9]+$`)
	skipped = regexp.MustCompile(`(?m)^kinst: ([0-9]+) probe firings? skipped by the kernel$`)
	profile = regexp.MustCompile(`(?m)^\s*\S+\s+([0-9]+)\s+[0-9]+$`)
	misses  = regexp.MustCompile(`(?m)^\s*\S+\s+[0-9]+\s+([0-9]+)$`)
	counts  = regexp.MustCompile(`(?m)^ +([0-9]+)$`)
)

// sum adds up the numbers that a pattern finds in a file.
func sum(ts *testscript.TestScript, pattern *regexp.Regexp, file string) (total int) {
	for _, m := range pattern.FindAllStringSubmatch(ts.ReadFile(file), -1) {
		total += number(ts, m[1])
	}
	return total
}

// allCounted OUTPUT MESSAGES PROFILE N: the kernel has counted N hits. The lines
// of the output that begin with 7 and the reported losses, of which there are
// some, add up to as many; the output's aggregation has those that the kernel
// did not skip.
func allCounted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: allcounted output messages profile n")
	}
	n := number(ts, args[3])
	hits, missed := sum(ts, profile, args[2]), sum(ts, misses, args[2])
	lines := strings.Count("\n"+ts.ReadFile(args[0]), "\n7 ")
	counted := sum(ts, counts, args[0])
	lost, skips := sum(ts, drops, args[1]), sum(ts, skipped, args[1])
	if hits+missed != n || lines+lost+skips != n || lost == 0 || counted != n-skips {
		ts.Fatalf("of %d events the kernel has counted %d and missed %d; %d lines, %d drops, %d skipped, and the aggregation has %d",
			n, hits, missed, lines, lost, skips, counted)
	}
}

// skipsCounted MESSAGES PROFILE MIN: what the kernel has missed is reported, and
// at least so much.
func skipsCounted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: skipscounted messages profile min")
	}
	missed, skips := sum(ts, misses, args[1]), sum(ts, skipped, args[0])
	if missed != skips || missed < number(ts, args[2]) {
		ts.Fatalf("the kernel has missed %d hits, at least %s are due, and %d are reported", missed, args[2], skips)
	}
}

// sameHex A B: the first hexadecimal numbers of two files are the same.
func sameHex(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samehex file file")
	}
	var n [2]uint64
	for i, name := range args {
		words := strings.Fields(ts.ReadFile(name))
		if len(words) == 0 {
			ts.Fatalf("%s is empty", name)
		}
		var err error
		n[i], err = strconv.ParseUint(words[0], 16, 64)
		ts.Check(err)
	}
	if n[0] != n[1] {
		ts.Fatalf("%s has %#x, %s %#x", args[0], n[0], args[1], n[1])
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		ts.Fatalf("%v", fmt.Errorf("a count: %w", err))
	}
	return n
}
