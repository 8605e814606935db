package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kinst/internal/kernel"
)

func TestMain(m *testing.M) {
	command := func() { os.Exit(Main(os.Args)) }
	testscript.Main(m, map[string]func(){"kinst": command, "dtrace": command})
}

// TestScripts runs the scripts of testdata/script on this machine's own kernel.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Condition: func(name string) (bool, error) {
			return name == "kprobes" && hasKprobes(), nil
		},
	})
}

func hasKprobes() bool {
	tracefs, err := kernel.TraceFS()
	if err != nil {
		return false
	}
	_, err = os.Stat(tracefs + "/kprobe_events")
	return err == nil
}
