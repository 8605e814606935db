package kinst

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
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
	losses   *buffer.Losses
	consumer *consume.Consumer
	policy   *policy
	missed   uint64    // reported so far
	looked   time.Time // when the losses were last looked at
}

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
	for ctx.Err() == nil && !isClosed(ended) && !r.exited() {
		if err := r.round(); err != nil {
			return 0, err
		}
	}
	over.Store(true)
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
	r := &reader{session: s, rings: rings, losses: buffer.NewLosses(s.loaded.Losses)}
	opts.SetOption = r.setOption
	if r.consumer, err = consume.New(out, layout, s.table(), opts); err != nil {
		return nil, errors.Join(err, rings.Close())
	}
	r.policy = newPolicy(s.settings, r.consumer.Record)
	return r, nil
}

// setOption serves setopt(): it changes the options that can be changed while
// the program runs.
func (r *reader) setOption(name, value string) error {
	o, err := findOption(name)
	switch {
	case err != nil:
		return err
	case !o.dynamic:
		return errors.New("it cannot be changed while the program runs")
	}
	set := r.session.settings
	if err := o.set(set, value, value != ""); err != nil {
		return err
	}
	r.consumer.SetOptions(func(opts *consume.Options) { r.session.setAppearance(opts) })
	return nil
}

func (s *Session) consumeOptions(aggs consume.Aggregations) *consume.Options {
	opts := &consume.Options{
		NoDemangle:   !s.settings.Demangle,
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
	if err := r.rings.Wait(r.session.settings.Statusrate); err != nil {
		return err
	}
	if err := r.rings.Read(r.record); err != nil {
		return err
	}
	if err := r.consumer.Flush(); err != nil {
		return err
	}
	if time.Since(r.looked) < r.session.settings.Statusrate {
		return nil
	}
	return r.reportLosses()
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
	r.looked = time.Now()
	if err := r.losses.Report(r.consumer.Lost); err != nil {
		return err
	}
	var missed uint64
	for _, a := range r.session.armed {
		n, err := a.Missed()
		if err != nil {
			return err
		}
		missed += n
	}
	r.consumer.Missed(missed - r.missed)
	r.missed = missed
	return nil
}

// finish stops the probes, fires END and prints what is left. The sites are
// taken out while it prints.
func (r *reader) finish() error {
	s := r.session
	s.loaded.Control.Drain()
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
	if err := r.consumer.Flush(); err != nil {
		return err
	}
	return r.consumer.PrintAggregations()
}
