package kinst

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kinst/internal/arm"
	"kinst/internal/codegen"
	"kinst/internal/consume"
	"kinst/internal/dlang/syntax"
	"kinst/internal/isa"
	"kinst/internal/kernel"
	"kinst/internal/process"
	"kinst/internal/provider"
	"kinst/internal/provider/cpc"
	"kinst/internal/provider/derived"
	"kinst/internal/provider/dtrace"
	"kinst/internal/provider/fbt"
	"kinst/internal/provider/io"
	"kinst/internal/provider/kinst"
	"kinst/internal/provider/pid"
	"kinst/internal/provider/proc"
	"kinst/internal/provider/profile"
	"kinst/internal/provider/rawtp"
	"kinst/internal/provider/sched"
	"kinst/internal/provider/sdt"
	"kinst/internal/provider/syscall"
	"kinst/internal/provider/usdt"
	"kinst/internal/record"
	"kinst/internal/userland"
)

// Options are what a session is opened with. The zero value is a session with
// DTrace's defaults.
type Options struct {
	Settings  *Settings  // nil for the defaults
	Args      []string   // the macro arguments: $0, which in a script is its name, $1, ...
	Processes []*Process // $target is the first; tracing ends with the last

	// Warn gets what the user must know: losses, faults. Each text is a line
	// without its newline. Nil drops them.
	Warn func(text string)
	// Note gets what the user may want to know: what was left out, and why;
	// each text once.
	Note func(text string)
	// Ended is told how each of the processes ended, from another goroutine.
	Ended func(text string)
	// Progress is told how many probes of how many are armed.
	Progress func(done, total int)
}

// A Session traces the running kernel. Its methods are for one goroutine.
type Session struct {
	opts     Options
	settings *Settings
	arch     *isa.Arch
	kernel   *kernel.Kernel
	files    *userland.Store
	users    process.Symbols
	arms     func() (*arm.Session, error)
	arming   *arm.Session // what arms returned, if it was called

	dtrace    *dtrace.Provider
	providers []provider.Provider
	probes    []*provider.Probe // by ID, less 1
	known     map[*provider.Probe]known
	texts     map[*syntax.Source]Source

	listing  bool       // follows no processes
	followed []*Process // where the probes in them are to be followed

	program *Program
	loaded  *codegen.Loaded
	armed   []provider.Armed
	missed  uint64               // firings that the kernel skipped before the program ran
	hurry   func() (done func()) // makes disarming fast, once
	disarm  func() error
}

// known is what the session knows of a probe.
type known struct {
	id    int
	owner provider.Provider
}

// Open starts a session. It reads nothing of the kernel yet.
func Open(opts Options) (*Session, error) {
	if opts.Settings == nil {
		opts.Settings = NewSettings()
	}
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	opts.Note = once(opts.Note)
	if opts.Ended == nil {
		opts.Ended = func(string) {}
	}
	if opts.Progress == nil {
		opts.Progress = func(int, int) {}
	}
	arch, err := isa.Native()
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open()
	if err != nil {
		return nil, err
	}
	s := &Session{
		opts:     opts,
		settings: opts.Settings,
		arch:     arch,
		kernel:   k,
		files:    userland.NewStore(arch),
		dtrace:   new(dtrace.Provider),
		known:    make(map[*provider.Probe]known),
		texts:    make(map[*syntax.Source]Source),
	}
	s.arms = sync.OnceValues(func() (*arm.Session, error) {
		var err error
		s.arming, err = arm.Open(k)
		return s.arming, err
	})
	s.hurry = sync.OnceValue(s.hurryOut)
	s.disarm = sync.OnceValue(s.disarmAll)
	calls := syscall.New(k, arch)
	base := derived.Kernel{Kernel: k, Arch: arch, Syscalls: calls, Arms: s.arms}
	s.providers = []provider.Provider{
		s.dtrace,
		new(profile.Provider),
		cpc.New(),
		calls,
		proc.New(base),
		sched.New(base),
		io.New(base),
		sdt.New(k),
		rawtp.New(k),
		fbt.New(k, arch, s.arms),
		kinst.New(k, arch, s.arms),
		pid.New(arch, s.files, s.settle),
		usdt.New(arch, s.files, s.settle),
	}
	for _, p := range dtrace.Probes {
		s.enter(p, s.dtrace)
	}
	return s, nil
}

// once returns a function that passes on each text once. Nil drops them.
func once(note func(string)) func(string) {
	said := make(map[string]bool)
	return func(text string) {
		if note != nil && !said[text] {
			said[text] = true
			note(text)
		}
	}
}

// Settings are the options' values; the program's pragmas change them.
func (s *Session) Settings() *Settings { return s.settings }

// Start loads a program, arms its probes, fires BEGIN and lets the processes
// run that were created. On an error nothing stays armed.
func (s *Session) Start(ctx context.Context, p *Program) error {
	if s.program != nil {
		return errors.New("the session has been started already")
	}
	s.program = p
	var err error
	s.limitRates()
	if s.loaded, err = p.code.Load(s.resize()); err != nil {
		return allowed("load BPF programs", err)
	}
	if err := s.enable(ctx, 0, s.opts.Progress); err != nil {
		return errors.Join(err, s.disarm())
	}
	if err := s.dtrace.Fire(dtrace.Begin); err != nil {
		return errors.Join(err, s.disarm())
	}
	s.followUsers()
	if s.missed, err = s.countMissed(); err != nil {
		return errors.Join(err, s.disarm())
	}
	s.loaded.Control.Activate()
	for _, p := range s.opts.Processes {
		if err := p.Continue(); err != nil {
			return errors.Join(err, s.disarm())
		}
	}
	return nil
}

// followUsers begins to follow what processes map, if the program records
// addresses of theirs: before the first of them is recorded.
func (s *Session) followUsers() {
	if !consume.UsesUserSymbols(s.program.code.Layout) {
		return
	}
	if err := s.users.Watch(); err != nil {
		s.opts.Note(err.Error())
	}
	for _, p := range s.opts.Processes {
		s.users.Look(uint32(p.PID))
	}
}

// enable arms the probes of the program's units from one on, provider by
// provider.
func (s *Session) enable(ctx context.Context, first int, progress func(done, total int)) error {
	for _, owner := range s.providers {
		var enablings []provider.Enabling
		for i, u := range s.program.units {
			if i >= first && s.known[u.Probes[0]].owner == owner {
				enablings = append(enablings, provider.Enabling{Program: s.loaded.Programs[i], Context: u.Context, Probes: u.Probes, First: u.First, Counting: s.program.counting[i], Runs: s.runs(u.Context.Counter)})
			}
		}
		if enablings == nil {
			continue
		}
		armed, err := owner.Enable(ctx, enablings, progress)
		if err != nil {
			return err
		}
		s.armed = append(s.armed, armed)
		s.program.drop(armed.Refused(), s.opts.Note)
		if a, ok := armed.(provider.Substituted); ok {
			s.substitute(a.StandIns())
		}
	}
	return nil
}

// runs returns what tells how often programs have run that count it.
func (s *Session) runs(counter provider.Counter) func() uint64 {
	return func() uint64 { return s.loaded.Control.Runs(counter) }
}

// settle has a process load its libraries if the session has created it.
func (s *Session) settle(pid int) error {
	for _, p := range s.opts.Processes {
		if p.PID == pid {
			return p.Load()
		}
	}
	return nil
}

// disarmAll takes everything out of the kernel that the session has put in.
func (s *Session) disarmAll() error {
	defer s.hurry()()
	var errs []error
	for _, a := range s.armed {
		errs = append(errs, a.Close())
	}
	return errors.Join(errs...)
}

// hurryOut readies the kernel for sites to be taken out, which can take a tenth
// of a second. It may be called while they are still hit and counted.
func (s *Session) hurryOut() (done func()) {
	if s.arming == nil {
		return func() {}
	}
	return s.arming.HurryOut()
}

// Close ends the session and takes everything out of the kernel.
func (s *Session) Close() error {
	errs := []error{s.disarm()}
	if s.arming != nil {
		errs = append(errs, s.arming.Close())
	}
	if s.loaded != nil {
		errs = append(errs, s.loaded.Close())
	}
	return errors.Join(append(errs, s.files.Close(), s.users.Close(), s.kernel.Close())...)
}

// table returns the session's table of probes as the records refer to it.
func (s *Session) table() []record.Probe {
	var rows []record.Probe
	for _, u := range s.program.units {
		for _, p := range u.Probes {
			rows = append(rows, record.Probe{
				ID:       s.known[p].id,
				Provider: p.Provider,
				Module:   p.Module,
				Function: p.Function,
				Name:     p.Name,
			})
		}
	}
	return rows
}

// drop takes probes that the kernel refused off what the sources matched.
func (p *Program) drop(refused []provider.Refusal, note func(string)) {
	gone := make(map[*provider.Probe]bool, len(refused))
	for _, r := range refused {
		gone[r.Probe] = true
		note(fmt.Sprintf("%s is left out: %v", r.Probe.Desc, r.Err))
	}
	for i, probes := range p.matched {
		var left []*provider.Probe
		for _, probe := range probes {
			if !gone[probe] {
				left = append(left, probe)
			}
		}
		p.matched[i] = left
	}
}
