package vm

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// readyVariable names the descriptor that the program writes to when it traces.
const readyVariable = "KINST_READY_FD"

// readyFD is that descriptor, or -1. It is taken at once, so that processes
// which the program starts know of neither the descriptor nor the variable.
var readyFD = takeReadyFD()

func takeReadyFD() int {
	fd, err := strconv.Atoi(os.Getenv(readyVariable))
	if err != nil {
		return -1
	}
	os.Unsetenv(readyVariable)
	unix.CloseOnExec(fd)
	return fd
}

// NotifyReady tells the guest's init that the program traces: all probes are
// armed and BEGIN has run. The workload starts then. It does nothing the second
// time, and outside of a machine.
func NotifyReady() {
	if readyFD < 0 {
		return
	}
	unix.Write(readyFD, []byte{1}) // init has no need to listen
	unix.Close(readyFD)
	readyFD = -1
}
