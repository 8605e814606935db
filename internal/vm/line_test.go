package vm

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCopyUntil(t *testing.T) {
	const marker = "\x00END"
	for _, c := range []struct {
		name, in, out string
		err           error
	}{
		{"nothing", marker, "", nil},
		{"text", "abc" + marker, "abc", nil},
		{"what follows is dropped", "abc" + marker + "def", "abc", nil},
		{"beginnings of the marker", "\x00\x00EN\x00E" + marker, "\x00\x00EN\x00E", nil},
		{"no marker", "abc", "abc", io.EOF},
		{"part of the marker", "abc\x00EN", "abc\x00EN", io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
				var out bytes.Buffer
				err := copyUntil(&out, wrap(strings.NewReader(c.in)), marker)
				if err != c.err || out.String() != c.out {
					t.Errorf("got %q, %v, want %q, %v", out.String(), err, c.out, c.err)
				}
			}
		})
	}
}

// Nothing but what may be a marker's beginning waits for more to come.
func TestCopyUntilHoldsNothingBack(t *testing.T) {
	in, feed := io.Pipe()
	out, sink := io.Pipe()
	go copyUntil(sink, in, "\x00END")
	for _, c := range []struct{ in, out string }{
		{"a line\n", "a line\n"},
		{"abc\x00EN", "abc"},
		{"x", "\x00ENx"},
	} {
		feed.Write([]byte(c.in))
		got := make([]byte, len(c.out))
		if _, err := io.ReadFull(out, got); err != nil || string(got) != c.out {
			t.Errorf("after %q got %q, %v, want %q", c.in, got, err, c.out)
		}
	}
}

func TestCopyUntilReportsTheSink(t *testing.T) {
	full := errors.New("full")
	r, w := io.Pipe()
	r.CloseWithError(full)
	if err := copyUntil(w, strings.NewReader("abc"), "\x00END"); err != full {
		t.Errorf("got %v", err)
	}
}

func FuzzCopyUntil(f *testing.F) {
	f.Add([]byte("ab\x00\x00E"), 2)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		const marker = "\x00END"
		if bytes.Contains(append(text[:len(text):len(text)], marker[:3]...), []byte(marker)) {
			return
		}
		var out bytes.Buffer
		in := io.MultiReader(bytes.NewReader(text), strings.NewReader(marker))
		if err := copyUntil(&out, iotest.HalfReader(in), marker); err != nil || !bytes.Equal(out.Bytes(), text) {
			t.Errorf("%q became %q, %v", text, out.Bytes(), err)
		}
	})
}

func TestTail(t *testing.T) {
	var next bytes.Buffer
	log := newTail(&next)
	io.WriteString(log, "[ 1.0] Kernel panic - not sync")
	if r := log.panicReason(); r != "" {
		t.Errorf("reason %q", r)
	}
	io.WriteString(log, "ing: Attempted to kill init!\r\n\r\n[ 1.1] CPU: 0\r\n")
	if r := log.panicReason(); r != "Attempted to kill init!" {
		t.Errorf("reason %q", r)
	}
	want := "[ 1.0] Kernel panic - not syncing: Attempted to kill init!\n[ 1.1] CPU: 0"
	if got := log.lastLines(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(next.String(), "\r") {
		t.Errorf("passed on %q", next.String())
	}
	io.WriteString(log, strings.Repeat("x\n", tailBytes))
	if got := strings.Count(log.lastLines(), "\n") + 1; got != tailLines {
		t.Errorf("%d lines", got)
	}
}
