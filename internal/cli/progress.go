package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
)

// A progress shows on a terminal how far arming is, once it has taken longer
// than progressDelay.
type progress struct {
	w     io.Writer
	start time.Time
	last  time.Time
	shown bool
}

const (
	progressDelay    = time.Second
	progressInterval = 100 * time.Millisecond
)

// update shows how many probes of how many are armed.
func (p *progress) update(done, total int) {
	now := time.Now()
	if p.start.IsZero() {
		p.start = now
	}
	if now.Sub(p.start) < progressDelay || now.Sub(p.last) < progressInterval {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprintf(p.w, "\rarming %s of %s", humanize.Comma(int64(done)), humanize.Comma(int64(total)))
}

// clear takes the line away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
