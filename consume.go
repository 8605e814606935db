package kinst

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"kinst/internal/buffer"
	"kinst/internal/consume"
	"kinst/internal/provider/dtrace"
	"kinst/internal/record"
)

// A reader is the consuming side of a session that has been started.
type reader struct {
	session  *Session
	rings    *buffer.Rings
	aggs     *buffer.Aggregations
	threads  *buffer.Threads
	losses   *buffer.Losses
	consumer *consume.Consumer
	policy   *policy
	missed   uint64            // as Session.missed, when it was last reported
	refuse   func(text string) // says once why probes could not be followed

	reading, looking, cleaning interval
	lookTime                   time.Duration // that the last look at the losses took
}

// An interval tells when something that is done now and then is due again.
type interval struct{ last time.Time }

func (i *interval) due(rate time.Duration) bool {
	if i.left(rate) > 0 {
		return false
	}
	i.last = time.Now()
	return true
}

func (i *interval) left(rate time.Duration) time.Duration { return rate - time.Since(i.last) }

// Consume prints what the probes record, until the program calls exit(), the
// last of the processes has ended or ctx is done. Then it fires END and prints
// the aggregations, after an empty line if it was ctx: of the terminal's, where
// Ctrl-C has been echoed. It returns exit's status.
func (s *Session) Consume(ctx context.Context, out io.Writer) (status int, err error) {
	r, err := s.newReader(out)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.rings.Close()) }()
	stop := context.AfterFunc(ctx, r.rings.Wake)
	defer stop()
	var over atomic.Bool
	ended := s.watchProcesses(&over, r.rings.Wake)
	defer s.unfollow()
	s.wakeForStops(r.rings.Wake)
	for ctx.Err() == nil && !isClosed(ended) && !r.exited() {
		r.followProcesses(ctx)
		if err := r.round(); err != nil {
			return 0, err
		}
	}
	over.Store(true)
	s.unfollow()
	if ctx.Err() != nil && s.settings.Oformat == "text" {
		if _, err := io.WriteString(out, "\n"); err != nil {
			return 0, err
		}
	}
	if err := r.finish(); err != nil {
		return 0, err
	}
	status, _ = s.loaded.Control.Exited()
	return status, nil
}

func (s *Session) newReader(out io.Writer) (*reader, error) {
	rings, err := buffer.NewRings(s.loaded.Rings, &buffer.RingOptions{ByCPU: !s.settings.Temporal})
	if err != nil {
		return nil, err
	}
	layout := s.program.code.Layout
	aggs, err := buffer.NewAggregations(layout.Aggs, s.loaded.Aggs)
	if err != nil {
		return nil, errors.Join(err, rings.Close())
	}
	opts := s.consumeOptions(aggs)
	opts.User = &s.users
	aggs.Keep(s.settings.Aggrate)
	r := &reader{
		session: s, rings: rings, aggs: aggs, missed: s.missed,
		refuse:  once(s.opts.Warn),
		threads: buffer.NewThreads(s.loaded.Threads), losses: buffer.NewLosses(s.loaded.Losses),
	}
	r.looking.due(0)
	r.cleaning.due(0)
	opts.SetOption = r.setOption
	if r.consumer, err = consume.New(out, layout, s.table(), opts); err != nil {
		return nil, errors.Join(err, rings.Close())
	}
	r.policy = newPolicy(s.settings, r.consumer.Record)
	return r, nil
}

// DTrace's words for what setopt() cannot do (libdtrace's dt_error.c).
const (
	badOption = "Invalid option name"
	badValue  = "Invalid value for specified option"
	isActive  = "Operation illegal when tracing is active"
)

// setOption serves setopt(): it changes the options that can be changed while
// the program runs.
func (r *reader) setOption(name, value string) error {
	o, err := findOption(name)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", badOption, err)
	case !o.dynamic:
		return fmt.Errorf("%s: the options that can be set are %s", isActive, strings.Join(dynamicNames(), " "))
	}
	set := r.session.settings
	if err := o.set(set, value, true); err != nil {
		return fmt.Errorf("%s: %w", badValue, err)
	}
	r.session.limitStatusrate()
	r.aggs.Keep(set.Aggrate)
	r.consumer.SetOptions(func(opts *consume.Options) { r.session.setAppearance(opts) })
	return nil
}

func (s *Session) consumeOptions(aggs consume.Aggregations) *consume.Options {
	opts := &consume.Options{
		NoDemangle:   !s.settings.Demangle,
		DropTags:     s.settings.Droptags,
		JSON:         s.settings.Oformat == "json",
		SpecSize:     int(s.settings.Specsize),
		Kernel:       consume.Kernel(s.kernel),
		Aggregations: aggs,
		Message:      s.opts.Warn,
	}
	s.setAppearance(opts)
	if len(s.opts.Processes) > 0 {
		opts.Target = uint32(s.opts.Processes[0].PID)
	}
	return opts
}

// setAppearance sets what decides how things look, which setopt() may change.
func (s *Session) setAppearance(opts *consume.Options) {
	set := s.settings
	opts.Quiet = set.Quiet
	opts.FlowIndent = set.Flowindent
	opts.RawBytes = set.Rawbytes
	opts.Encoding = set.Encoding
	if opts.StackIndent = int(set.Stackindent); opts.StackIndent == 0 {
		opts.StackIndent = -1 // where 0 stands for the default
	}
	opts.AggSortKey = set.Aggsortkey
	opts.AggSortRev = set.Aggsortrev
	opts.AggSortKeyPos = int(set.Aggsortkeypos)
	opts.AggSortPos = int(set.Aggsortpos)
	opts.AggHist = set.Agghist
	opts.AggPack = set.Aggpack
	opts.AggZoom = set.Aggzoom
}

// watchProcesses closes its channel when the last of the processes has ended,
// and never if there are none. How they ended is told as long as it is not over.
func (s *Session) watchProcesses(over *atomic.Bool, wake func()) <-chan struct{} {
	ended := make(chan struct{})
	if len(s.opts.Processes) == 0 {
		return ended
	}
	go func() {
		for _, p := range s.opts.Processes {
			<-p.Done()
			if !over.Load() {
				s.opts.Ended(p.how)
			}
		}
		close(ended)
		wake()
	}()
	return ended
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// exited reports whether the program called exit(), or a buffer is full that
// shall not be emptied. The control block tells of exit() even if the record
// was lost.
func (r *reader) exited() bool {
	_, printed := r.consumer.Exited()
	_, called := r.session.loaded.Control.Exited()
	return printed || called || r.policy.full
}

// round waits for records and prints them, and what was lost.
func (r *reader) round() error {
	set := r.session.settings
	if err := r.rings.Wait(r.pause(), r.reading.left(set.Switchrate)); err != nil {
		return err
	}
	if r.reading.due(set.Switchrate) || r.rings.Filling() {
		if err := r.rings.Read(r.record); err != nil {
			return err
		}
		if err := r.consumer.Flush(); err != nil {
			return err
		}
	}
	if r.cleaning.due(set.Cleanrate) {
		if err := r.threads.Clean(); err != nil {
			return err
		}
	}
	if r.looking.due(r.statusRate()) {
		return r.reportLosses()
	}
	return nil
}

// statusRate is how long to wait between two looks at the losses: with many
// sites the kernel takes long to say what it skipped.
func (r *reader) statusRate() time.Duration {
	return max(r.session.settings.Statusrate, 50*r.lookTime)
}

// pause is how long to wait for records.
func (r *reader) pause() time.Duration {
	set := r.session.settings
	pause := r.looking.left(r.statusRate())
	if r.threads.Any() {
		pause = min(pause, r.cleaning.left(set.Cleanrate))
	}
	return max(pause, time.Millisecond)
}

// record takes one record. A fault fires ERROR, whose arguments are DTrace's:
// arg1 the clause, arg2 the action, arg3 an offset that BPF does not have,
// arg4 the fault and arg5 its address.
func (r *reader) record(cpu int, data []byte) error {
	if err := r.policy.add(cpu, data); err != nil || !isFault(data) {
		return err
	}
	fault := data[record.HeaderSize:]
	word := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(fault[4*i:])) }
	return r.session.dtrace.Fire(dtrace.Error, 0, word(0)+1, word(1), 0, word(2), binary.NativeEndian.Uint64(fault[16:]))
}

// reportLosses reports what was lost since it was last called.
func (r *reader) reportLosses() error {
	defer func(start time.Time) { r.lookTime = time.Since(start) }(time.Now())
	if err := r.losses.Report(r.consumer.Lost); err != nil {
		return err
	}
	r.consumer.Overflown()
	missed, err := r.session.countMissed()
	if err != nil {
		return err
	}
	r.consumer.Missed(missed - r.missed)
	r.missed = missed
	r.reportUnloaded()
	return nil
}

// reportUnloaded tells of modules that have gone with the probes in them.
func (r *reader) reportUnloaded() {
	s := r.session
	if s.arming == nil {
		return
	}
	for _, err := range s.arming.Unloaded() {
		s.opts.Warn(fmt.Sprintf("%v; the probes in it have gone with it", err))
	}
}

// countMissed returns how many firings the kernel skipped since the probes were
// armed.
func (s *Session) countMissed() (missed uint64, err error) {
	for _, a := range s.armed {
		n, err := a.Missed()
		if err != nil {
			return 0, err
		}
		missed += n
	}
	return missed, nil
}

// finish stops the probes, fires END, for which it makes room first, and prints
// what is left. The kernel is readied for sites to be taken out from the first on,
// and they are while it prints.
func (r *reader) finish() error {
	s := r.session
	s.loaded.Control.Drain()
	go s.hurry()
	r.rings.Settle()
	if err := r.rings.Flush(r.record); err != nil {
		return err
	}
	r.policy.end()
	if err := s.dtrace.Fire(dtrace.End); err != nil {
		return err
	}
	if err := r.reportLosses(); err != nil {
		return err
	}
	go func() { _ = s.disarm() }() // Close returns the error
	if err := r.rings.Flush(r.record); err != nil {
		return err
	}
	if err := r.policy.finish(); err != nil {
		return err
	}
	r.consumer.Overflown()
	if err := r.consumer.Flush(); err != nil {
		return err
	}
	r.aggs.Keep(0)
	return r.consumer.PrintAggregations()
}
