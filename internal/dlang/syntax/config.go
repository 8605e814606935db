package syntax

import (
	"os"

	"golang.org/x/sys/unix"
)

// Spec says what a probe description with fewer than four fields names: its
// last field is a name, a function, a module or a provider. It is what sets
// -n, -f, -m, -P and -i of dtrace(1) apart.
type Spec int

const (
	ByName     Spec = iota // -n and scripts: [[[provider:]module:]function:]name
	ByFunction             // -f: [[provider:]module:]function
	ByModule               // -m: [provider:]module
	ByProvider             // -P: provider
	ByID                   // -i: a number
)

func (s Spec) String() string {
	return [...]string{"names", "functions", "modules", "providers", "IDs"}[s]
}

// fields returns how many fields a description may have.
func (s Spec) fields() int { return 4 - int(s) }

// IDs are the values of the macro variables that describe the tracing process.
type IDs struct {
	Pid, Ppid, Pgid, Sid int
	Uid, Euid, Gid, Egid int
}

// ProcessIDs returns the IDs of the calling process.
func ProcessIDs() IDs {
	sid, _ := unix.Getsid(0) // fails for no process that exists
	return IDs{
		Pid: os.Getpid(), Ppid: os.Getppid(), Pgid: unix.Getpgrp(), Sid: sid,
		Uid: os.Getuid(), Euid: os.Geteuid(), Gid: os.Getgid(), Egid: os.Getegid(),
	}
}

// A Config is what a program's meaning depends on beside its text. Its zero
// value is a program without arguments.
type Config struct {
	// Args are the values of $0, $1, ...: Args[0] is the script's name.
	Args []string
	// IDs are the values of $pid, $uid, ...
	IDs IDs
	// Target is the value of $target: the process of -p or -c.
	Target int

	// DefaultArgs makes a macro argument beyond Args 0 ($1) or "" ($$1)
	// instead of an error (-x defaultargs).
	DefaultArgs bool
	// ArgRef accepts arguments that the program does not refer to
	// (-x argref); otherwise the last one must be.
	ArgRef bool
	// Empty accepts a program without declarations (-x empty).
	Empty bool
	// Library says that the program is one of D's own libraries, which may
	// depend on others.
	Library bool
	// PSpec reads every word where a declaration may begin as a probe
	// description, also if it is a type's name (-x pspec).
	PSpec bool
	// Spec says what the last field of a probe description is.
	Spec Spec

	// IsType reports whether name is a type of the kernel or of the probes'
	// modules. It is asked only where the text can be read both ways, as
	// (name)-1 can, and never for a name that D or the program defines. If it
	// is nil, a name that ends in _t is a type's.
	IsType func(name string) bool
	// Included returns the source that a line directive names, so that
	// diagnoses can show its lines. If it is nil or returns nil, positions
	// carry the name alone.
	Included func(name string) *Source
}
