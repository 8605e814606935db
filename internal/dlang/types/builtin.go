package types

import "strings"

// A BuiltinID says which built-in variable it is.
type BuiltinID int

const (
	Arg0   BuiltinID = iota // arg1 is Arg0+1, and so on to arg9
	Caller BuiltinID = iota + 9
	CPU
	Curcpu
	Curlwpsinfo
	Curpsinfo
	Curthread
	Epid
	Errno
	Execargs
	Execname
	GID
	ID
	IPL
	PID
	PPID
	ProbeFunc
	ProbeMod
	ProbeName
	ProbeProv
	StackDepth
	TID
	Timestamp
	UCaller
	UID
	UStackDepth
	VTimestamp
	WallTimestamp
)

// A Builtin is a built-in variable.
type Builtin struct {
	ID   BuiltinID
	Name string
	// Type is nil where it is not one of D's own: Doc names it.
	Type *Type
	// Doc says what the variable means on Linux, in a line.
	Doc string
	// Means is the D expression that the variable stands for, if it is one.
	Means string
}

// TaskCommLen is the size of execname: the kernel's TASK_COMM_LEN.
const TaskCommLen = 16

// Builtins is the table of the built-in variables but args[], regs[] and
// uregs[], which are arrays.
var Builtins = func() []*Builtin {
	list := []*Builtin{
		{ID: Caller, Name: "caller", Type: typeUintptr, Doc: "the address to which the current kernel function returns"},
		{ID: CPU, Name: "cpu", Type: TypeInt, Doc: "the number of the processor"},
		{ID: Curcpu, Name: "curcpu", Doc: "the processor, a cpuinfo_t *",
			Means: "xlate <cpuinfo_t *> (cpu)"},
		{ID: Curlwpsinfo, Name: "curlwpsinfo", Doc: "the current thread, a lwpsinfo_t *",
			Means: "xlate <lwpsinfo_t *> (curthread)"},
		{ID: Curpsinfo, Name: "curpsinfo", Doc: "the current process, a psinfo_t *",
			Means: "xlate <psinfo_t *> (curthread)"},
		{ID: Curthread, Name: "curthread", Doc: "the current thread, a struct task_struct *"},
		{ID: Epid, Name: "epid", Type: typeUintT, Doc: "the number of the enabled probe: a probe and a clause"},
		{ID: Errno, Name: "errno", Type: TypeInt, Doc: "the error of the system call that is about to return, 0 if it succeeds",
			Means: "arg0 < 0 && arg0 >= -4095 ? -(int)arg0 : 0"},
		{ID: Execargs, Name: "execargs", Type: stringType(0), Doc: "the arguments of the current process, joined by blanks"},
		{ID: Execname, Name: "execname", Type: stringType(0), Doc: "the name of the current thread (comm), up to 15 characters"},
		{ID: GID, Name: "gid", Type: typeGid, Doc: "the real group of the current process, in the initial user namespace"},
		{ID: ID, Name: "id", Type: typeUintT, Doc: "the number of the probe, as -l prints it"},
		{ID: IPL, Name: "ipl", Type: typeUintT, Doc: "1 where interrupts are disabled, else 0; 0 where the probe has no registers"},
		{ID: PID, Name: "pid", Type: typePid, Doc: "the process (the kernel's tgid), in the initial PID namespace"},
		{ID: PPID, Name: "ppid", Type: typePid, Doc: "the parent of the current process",
			Means: "(pid_t)curthread->real_parent->tgid"},
		{ID: ProbeFunc, Name: "probefunc", Type: stringType(0), Doc: "the third field of the probe's description"},
		{ID: ProbeMod, Name: "probemod", Type: stringType(0), Doc: "the second field of the probe's description"},
		{ID: ProbeName, Name: "probename", Type: stringType(0), Doc: "the fourth field of the probe's description"},
		{ID: ProbeProv, Name: "probeprov", Type: stringType(0), Doc: "the first field of the probe's description"},
		{ID: StackDepth, Name: "stackdepth", Type: typeUint32, Doc: "how many frames the kernel's stack has"},
		{ID: TID, Name: "tid", Type: typeID, Doc: "the thread (the kernel's pid), in the initial PID namespace"},
		{ID: Timestamp, Name: "timestamp", Type: typeUint64, Doc: "nanoseconds since boot, sleep left out (CLOCK_MONOTONIC)"},
		{ID: UCaller, Name: "ucaller", Type: typeUint64, Doc: "the user address to which the current user function returns"},
		{ID: UID, Name: "uid", Type: typeUid, Doc: "the real user of the current process, in the initial user namespace"},
		{ID: UStackDepth, Name: "ustackdepth", Type: typeUint32, Doc: "how many frames the user stack has"},
		{ID: VTimestamp, Name: "vtimestamp", Type: typeUint64, Doc: "nanoseconds that the current thread has run, as the scheduler last counted them",
			Means: "(uint64_t)curthread->se.sum_exec_runtime"},
		{ID: WallTimestamp, Name: "walltimestamp", Type: typeUint64, Doc: "nanoseconds since 1970-01-01 00:00 UTC"},
	}
	for n := range 10 {
		list = append(list, &Builtin{
			ID: Arg0 + BuiltinID(n), Name: "arg" + string(rune('0'+n)), Type: typeInt64,
			Doc: "the probe's argument " + string(rune('0'+n)) + ", 0 where there is none",
		})
	}
	return list
}()

var builtinByName = func() map[string]*Builtin {
	m := make(map[string]*Builtin)
	for _, b := range Builtins {
		m[b.Name] = b
	}
	return m
}()

// absent is the built-in variables of other systems, and why Linux has none.
var absent = func() map[string]string {
	m := make(map[string]string)
	for names, why := range map[string]string{
		"zonename":                       "Linux has no zones",
		"jailname jid":                   "Linux has no jails",
		"vmregs":                         "Linux does not expose the virtual machine's control structure",
		"threadname curproc projid":      "Linux has no such thing; use execname and curthread",
		"taskid":                         "Linux has no tasks in the sense of Solaris",
		"root cwd inscratch gstackdepth": "it has no meaning here",
	} {
		for _, name := range strings.Fields(names) {
			m[name] = why
		}
	}
	return m
}()

// stringType returns D's string with room for size bytes. The size of 0 is
// replaced by the strsize option when an expression gets the type.
func stringType(size int) *Type { return &Type{Kind: String, Name: "string", Size: size} }
