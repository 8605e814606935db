package kernel

import (
	"flag"
	"os"
	"testing"

	"kinst/internal/isa"
	"kinst/internal/vm/vmtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		os.Exit(m.Run())
	}
	vmtest.Modules = []string{"dummy", "raid6_pq"}
	vmtest.Main(m)
}

func open(t testing.TB) *Kernel {
	t.Helper()
	k, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

func native(t testing.TB) *isa.Arch {
	t.Helper()
	arch, err := isa.Native()
	if err != nil {
		t.Fatal(err)
	}
	return arch
}

// list returns the listing of the function that a name stands for.
func list(t testing.TB, k *Kernel, spec string) *Listing {
	t.Helper()
	functions, err := k.Select(spec)
	if err != nil {
		t.Fatal(err)
	}
	l, err := k.Listing(native(t), functions[0])
	if err != nil {
		t.Fatal(err)
	}
	if l.Rest != nil {
		t.Fatal(l.Rest)
	}
	return l
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatalf("writing %.80q to %s: %v", text, path, err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// define writes a line to kprobe_events.
func define(line string) error {
	f, err := os.OpenFile(tracefs+"kprobe_events", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	return err
}
