package arm

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOwnersName(t *testing.T) {
	for _, o := range []owner{{1, 0, initialNS}, {12345, 0x1a2b3c, initialNS}, {7, 99, 0xF0000042}} {
		got, ok := parseOwner(o.group())
		if !ok || got != o {
			t.Errorf("%s is read as %+v, %v; it is %+v", o.group(), got, ok, o)
		}
	}
	if got, want := (owner{12, 0xab, initialNS}).group(), "kinst_12_ab"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, name := range []string{"", "kinst", "kinst_", "kinst_1", "kinst_x_1", "kinst_1_x", "kinst_1_2_3_4", "kprobes", "bcc_1_2"} {
		if o, ok := parseOwner(name); ok {
			t.Errorf("%q is taken for %+v", name, o)
		}
	}
}

func TestParseStartTime(t *testing.T) {
	const rest = " 1 42 42 0 -1 4194560 500 0 0 0 1 2 0 0 20 0 1 0 98765 10000 300"
	for _, test := range []struct {
		stat string
		want uint64
		err  error
	}{
		{"42 (kinst) S" + rest, 98765, nil},
		{"42 (a) b (c) S)) R" + rest, 98765, nil},
		{"42 (kinst) Z" + rest, 0, os.ErrNotExist},
		{"42 (kinst) Z 1 42 42 0 -1 4194560 500 0 0 0 1 2 0 0 20 0 3 0 98765 10000 300", 98765, nil},
		{"42 (kinst) S 1 2", 0, errors.New("")},
		{"", 0, errors.New("")},
	} {
		got, err := parseStartTime(test.stat)
		if got != test.want || (err != nil) != (test.err != nil) || errors.Is(test.err, os.ErrNotExist) && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %d, %v", test.stat, got, err)
		}
	}
}

func TestDead(t *testing.T) {
	self, err := selfOwner()
	if err != nil {
		t.Fatal(err)
	}
	if self.dead(self.NS) {
		t.Error("this process is taken for dead")
	}
	reused := self
	reused.Start--
	if !reused.dead(self.NS) {
		t.Error("an earlier process of this number is taken for living")
	}
	if (owner{1 << 29, 5, self.NS}).dead(self.NS) == false {
		t.Error("a process that is not there is taken for living")
	}
	if (owner{1 << 29, 5, self.NS + 1}).dead(self.NS) {
		t.Error("a process of another namespace is taken for dead")
	}
}

const someLog = `[   77.100000] trace_kprobe: error: Failed to register probe event
  Command: p:kinst_1_2/s1_1 _text+5
           ^
[  133.123456] trace_kprobe: error: Probe point is not an instruction boundary
  Command: p:kinst_1_2/s1_1 _text+7
                            ^
[  134.000000] trace_kprobe: error: Maxactive is too big
  Command: r99999:other/e vfs_read
            ^
`

func TestFindRefused(t *testing.T) {
	commands := []string{"p:kinst_1_2/s1_1 _text+5", "p:kinst_1_2/s1_1 _text+6", "p:kinst_1_2/s1_1 _text+7"}
	for _, test := range []struct {
		commands []string
		index    int
		words    string
	}{
		{commands, 2, "Probe point is not an instruction boundary"},
		{commands[:2], 0, "Failed to register probe event"},
		{commands[1:2], -1, ""},
		{nil, -1, ""},
	} {
		if i, words := findRefused(someLog, test.commands); i != test.index || words != test.words {
			t.Errorf("%v: %d, %q", test.commands, i, words)
		}
	}
	if i, _ := findRefused("# event tracing errors\n", commands); i != -1 {
		t.Errorf("found %d in an empty log", i)
	}
}

func TestWithWords(t *testing.T) {
	err := withWords(&os.PathError{Op: "write", Path: "kprobe_events", Err: unix.EILSEQ}, "Probe point is not an instruction boundary")
	if !errors.Is(err, unix.EILSEQ) {
		t.Errorf("%v is not EILSEQ", err)
	}
	if err := withWords(&os.PathError{Op: "write", Path: "kprobe_events", Err: unix.EINVAL}, ""); err != unix.EINVAL {
		t.Errorf("%v", err)
	}
}

func FuzzFindRefused(f *testing.F) {
	f.Add(someLog, "p:kinst_1_2/s1_1 _text+5")
	f.Fuzz(func(t *testing.T, log, command string) {
		if i, _ := findRefused(log, []string{command}); i != 0 && i != -1 {
			t.Error(i)
		}
		parseOwner(command)
		parseStartTime(log)
		sumProfile(log, map[string]bool{command: true})
	})
}
