package vm

import (
	"os"
	"strconv"
)

// readyVariable names the descriptor that the program writes to when it traces.
const readyVariable = "KINST_READY_FD"

// NotifyReady tells the guest's init that the program traces: all probes are
// armed and BEGIN has run. The workload starts then. It may be called more than
// once, and does nothing outside of a machine.
func NotifyReady() {
	fd, err := strconv.Atoi(os.Getenv(readyVariable))
	if err != nil {
		return
	}
	os.Unsetenv(readyVariable)
	f := os.NewFile(uintptr(fd), "ready")
	f.Write([]byte{1}) // init may have stopped listening
	f.Close()
}
