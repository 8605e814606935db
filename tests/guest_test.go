package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kinst/internal/cli"
	"kinst/internal/vm/vmtest"
)

// commands are what the scripts run beside busybox: this test binary under
// other names.
var commands = map[string]func(){
	"kinst":  func() { os.Exit(cli.Main(os.Args)) },
	"dtrace": func() { os.Exit(cli.Main(os.Args)) },
}

// TestMain runs the tests in a guest of each kernel. There the test binary is
// started under the name of the program that it stands for, kinst.
func TestMain(m *testing.M) {
	switch _, isCommand := commands[filepath.Base(os.Args[0])]; {
	case vmtest.InGuest():
		os.Args[0] = "tests.test"
	case !isCommand:
		vmtest.Main(m) // exits
	}
	testscript.Main(m, commands)
}

// TestGuest runs the scripts of testdata/guest.
func TestGuest(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/guest"})
}
