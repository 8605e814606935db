package consume

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"kinst/internal/record"
)

// act does what an action of a record asks for.
func (c *Consumer) act(e event, a *action) error {
	switch a.Kind {
	case record.Trace, record.Symbol, record.Stack, record.UStack:
		cols := traceColumns
		if c.opts.Quiet {
			cols = quietColumns
		}
		f := a.Fields[0]
		c.out.buf = c.appendValue(c.out.buf, f.Type, field(f, e.data), cols)
	case record.Tracemem:
		c.out.buf = appendDump(c.out.buf, tracemem(a, e.data))
	case record.Print:
		f := a.Fields[0]
		c.out.buf = c.appendPrint(c.out.buf, f.Type, field(f, e.data))
	case record.Printf:
		c.out.buf = c.appendFormat(c.out.buf, a.format, a.Fields, e.data, nil)
	case record.Printa:
		return c.printa(e, a)
	case record.Exit:
		f := a.Fields[0]
		c.exited, c.status = true, int(int32(integer(f.Type, field(f, e.data))))
	case record.System:
		return c.system(e, a)
	case record.Freopen:
		return c.freopen(e, a)
	case record.Ftruncate:
		return c.out.truncate()
	case record.Setopt:
		c.setopt(e, a)
	case record.Commit:
		return c.commit(c.number(a, e))
	case record.Discard:
		delete(c.specs, c.number(a, e))
	case record.Clear, record.Trunc, record.Normalize, record.Denormalize:
		return c.aggregationAction(e, a)
	}
	return nil
}

// number is a speculation's number, the first field of an action.
func (c *Consumer) number(a *action, e event) uint32 {
	f := a.Fields[0]
	return uint32(integer(f.Type, field(f, e.data)))
}

// tracemem is the memory that tracemem() recorded: its static size, or less
// where its third argument says so.
func tracemem(a *action, data []byte) []byte {
	b := field(a.Fields[0], data)
	if len(a.Fields) > 1 {
		f := a.Fields[1]
		if n := integer(f.Type, field(f, data)); n != 0 && n < uint64(len(b)) {
			b = b[:n]
		}
	}
	return b
}

// formatted is a System's or a Freopen's text.
func (c *Consumer) formatted(e event, a *action) string {
	if a.format == nil {
		return ""
	}
	c.scratch = c.appendFormat(c.scratch[:0], a.format, a.Fields, e.data, nil)
	return string(c.scratch)
}

// system runs a command. What was printed before comes out before what the
// command prints.
func (c *Consumer) system(e event, a *action) error {
	command := c.formatted(e, a)
	if err := c.out.flush(); err != nil {
		return err
	}
	err := c.runShell(e, command)
	if errors.Is(err, errOutput) {
		return err
	}
	if err != nil {
		c.libraryError(e, "system(%q): %v", command, err)
	}
	return nil
}

// runShell fails where the command could not be run, not where it failed.
func (c *Consumer) runShell(e event, command string) error {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	cmd.Stdout = c.out.file()
	if c.opts.JSON {
		lines := &jsonLines{Consumer: c, event: e}
		cmd.Stdout, cmd.WaitDelay = lines, leftTime
		defer lines.end()
	}
	err := cmd.Run()
	if _, failed := err.(*exec.ExitError); failed || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// leftTime is how long what a command has left running in the background is
// listened to, where its output has to pass through here.
const leftTime = 100 * time.Millisecond

// errOutput is wrapped by the errors of the output while a command runs.
var errOutput = errors.New("failed to write what a command has printed")

func (c *Consumer) freopen(e event, a *action) error {
	name := c.formatted(e, a)
	if err := c.out.reopen(name); err != nil {
		c.libraryError(e, "couldn't freopen() %q: %v", name, err)
	}
	return nil
}

// setopt sets an option; without a value it is switched on.
func (c *Consumer) setopt(e event, a *action) {
	name, _ := c.text(a.Fields[0].Type, field(a.Fields[0], e.data))
	value := []byte("1")
	if len(a.Fields) > 1 {
		value, _ = c.text(a.Fields[1].Type, field(a.Fields[1], e.data))
	}
	if c.opts.SetOption == nil {
		return
	}
	if err := c.opts.SetOption(string(name), string(value)); err != nil {
		c.libraryError(e, "couldn't set option \"%s\" to \"%s\": %v", name, value, err)
	}
}

// libraryError reports an action that user space could not do.
func (c *Consumer) libraryError(e event, format string, args ...any) {
	c.report(Report{Kind: "error", Text: fmt.Sprintf("error on enabled probe ID %d (%s): %s",
		e.clause.Index+1, describe(e.probe), fmt.Sprintf(format, args...))})
}

func describe(p *record.Probe) string {
	return fmt.Sprintf("ID %d: %s:%s:%s:%s", p.ID, p.Provider, p.Module, p.Function, p.Name)
}

// fault reports the record of a clause that was stopped.
func (c *Consumer) fault(cpu int, probe *record.Probe, data []byte) error {
	if len(data) < record.ErrorSize {
		return fmt.Errorf("a fault's record of %d bytes instead of %d", len(data), record.ErrorSize)
	}
	word := func(n int) uint32 { return binary.NativeEndian.Uint32(data[record.HeaderSize+n:]) }
	clause, action, fault := word(0), word(4), record.Fault(word(8))
	where := "predicate"
	if action != 0 {
		where = fmt.Sprintf("action #%d", action)
	}
	details := ""
	switch fault {
	case record.FaultBadAddress, record.FaultBadAlignment, record.FaultBadStack:
		details = fmt.Sprintf(" (0x%x)", binary.NativeEndian.Uint64(data[record.HeaderSize+16:]))
	}
	c.report(Report{Kind: "error", CPU: cpu, Text: fmt.Sprintf("error on enabled probe ID %d (%s): %s%s in %s",
		clause+1, describe(probe), faultText(fault), details, where)})
	return nil
}

// faultText is DTrace's name of a fault.
func faultText(f record.Fault) string {
	switch f {
	case record.FaultBadAddress:
		return "invalid address"
	case record.FaultBadAlignment:
		return "invalid alignment"
	case record.FaultIllegalOp:
		return "illegal operation"
	case record.FaultDivideByZero:
		return "divide-by-zero"
	case record.FaultNoScratch:
		return "out of scratch space"
	case record.FaultKernelAccess:
		return "invalid kernel access"
	case record.FaultNoPrivilege:
		return "invalid user access"
	case record.FaultTupleOverflow:
		return "tuple overflow"
	case record.FaultBadStack:
		return "bad stack"
	}
	return "unknown fault"
}
