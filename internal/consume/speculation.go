package consume

import (
	"slices"

	"kinst/internal/record"
)

// speculation holds the records of a speculation until it is committed or
// discarded.
type speculation struct {
	events []event
	size   int
}

// speculate puts a record aside.
func (c *Consumer) speculate(e event) {
	var id uint32
	for i := range e.clause.actions {
		if a := &e.clause.actions[i]; a.Kind == record.Speculate {
			id = c.number(a, e)
			break
		}
	}
	if id == 0 {
		return // speculation() had none to give
	}
	s := c.specs[id]
	if s == nil {
		s = &speculation{}
		c.specs[id] = s
	}
	if c.opts.SpecSize > 0 && s.size+len(e.data) > c.opts.SpecSize {
		c.overflown++
		return
	}
	s.size += len(e.data)
	e.data = slices.Clone(e.data)
	s.events = append(s.events, e)
}

// commit prints what a speculation holds.
func (c *Consumer) commit(id uint32) error {
	s := c.specs[id]
	delete(c.specs, id)
	if s == nil {
		return nil
	}
	for _, e := range s.events {
		if err := c.event(e); err != nil {
			return err
		}
	}
	return nil
}
