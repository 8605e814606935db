package consume

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// output holds text back until there is enough of it, and knows where it goes:
// to the session's writer or to the file of a freopen().
type output struct {
	w        io.Writer
	buf      []byte
	reopened *os.File
}

// outputSize is how much text is written at once.
const outputSize = 64 << 10

func (o *output) flushFull() error {
	if len(o.buf) < outputSize {
		return nil
	}
	return o.flush()
}

func (o *output) flush() error {
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.file().Write(o.buf)
	o.buf = o.buf[:0]
	return err
}

// file is where the output goes at present.
func (o *output) file() io.Writer {
	if o.reopened != nil {
		return o.reopened
	}
	return o.w
}

// reopen directs the output to a file, appending to it; an empty name directs
// it back to where it went in the beginning.
func (o *output) reopen(name string) error {
	if err := o.flush(); err != nil {
		return err
	}
	var f *os.File
	if name != "" {
		var err error
		if f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
			return err
		}
	}
	if o.reopened != nil {
		if err := o.reopened.Close(); err != nil {
			return err
		}
	}
	o.reopened = f
	return nil
}

// truncate empties the file that the output goes to, if it is one.
func (o *output) truncate() error {
	if err := o.flush(); err != nil {
		return err
	}
	f := o.reopened
	if f == nil {
		f, _ = o.w.(*os.File)
	}
	if f == nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("ftruncate(): %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil && !errors.Is(err, os.ErrInvalid) {
		return fmt.Errorf("ftruncate(): %w", err)
	}
	return nil
}

const blanks = "                                                                "

func appendBlanks(b []byte, n int) []byte {
	for ; n > len(blanks); n -= len(blanks) {
		b = append(b, blanks...)
	}
	return append(b, blanks[:max(n, 0)]...)
}

// appendRight prints v at the right of a column.
func appendRight(b []byte, v int64, width int) []byte {
	return appendNumber(b, uint64(v), true, width)
}

// appendNumber prints v at the right of a column, or at its left where width is
// below zero.
func appendNumber(b []byte, v uint64, signed bool, width int) []byte {
	var buf [20]byte
	digits := buf[:0]
	if signed {
		digits = strconv.AppendInt(digits, int64(v), 10)
	} else {
		digits = strconv.AppendUint(digits, v, 10)
	}
	b = appendBlanks(b, width-len(digits))
	b = append(b, digits...)
	return appendBlanks(b, -width-len(digits))
}

// appendLeft prints text at the left of a column.
func appendLeft[T string | []byte](b []byte, text T, width int) []byte {
	b = append(b, text...)
	return appendBlanks(b, width-len(text))
}
