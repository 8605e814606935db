package kinst

import (
	"fmt"
	"time"

	"kinst/internal/codegen"
)

// Limits of rates, DTrace's (dtrace_statusrate_max, dtrace_cleanrate_min and
// dtrace_cleanrate_max).
const (
	maxStatusrate = 10 * time.Second
	minCleanrate  = 200 * time.Microsecond
	maxCleanrate  = 60 * time.Second
)

// limitRates brings the rates within their limits.
func (s *Session) limitRates() {
	s.limitStatusrate()
	rate := min(max(s.settings.Cleanrate, minCleanrate), maxCleanrate)
	s.limitRate("cleaning rate", &s.settings.Cleanrate, rate)
}

func (s *Session) limitStatusrate() {
	s.limitRate("status rate", &s.settings.Statusrate, min(s.settings.Statusrate, maxStatusrate))
}

// limitRate changes a rate and says so, in dtrace(1)'s words: it calls a longer
// interval a reduced rate.
func (s *Session) limitRate(name string, rate *time.Duration, limited time.Duration) {
	was := *rate
	if was == limited {
		return
	}
	*rate = limited
	direction := "increased"
	if limited > was {
		direction = "reduced"
	}
	to := fmt.Sprintf("once every %d nanoseconds", limited)
	switch {
	case limited <= time.Second && time.Second%limited == 0:
		to = fmt.Sprintf("%d hz", time.Second/limited)
	case limited%time.Second == 0:
		to = fmt.Sprintf("once every %d seconds", limited/time.Second)
	}
	s.opts.Warn(fmt.Sprintf("%s %s to %s", name, direction, to))
}

// bufferNames are what dtrace(1) calls what the options size.
var bufferNames = map[codegen.Buffer]string{
	codegen.Records:      "buffer size",
	codegen.Aggregations: "aggregation size",
	codegen.Variables:    "dynamic variable size",
}

// resize serves codegen.Program.Load where the option bufresize lets sizes be
// lowered: it notes what they have come to, and says so.
func (s *Session) resize() func(codegen.Buffer, int) {
	set := s.settings
	if set.Bufresize == "manual" {
		return nil
	}
	options := map[codegen.Buffer]*int64{
		codegen.Records: &set.Bufsize, codegen.Aggregations: &set.Aggsize, codegen.Variables: &set.Dynvarsize,
	}
	return func(b codegen.Buffer, size int) {
		if int64(size) >= *options[b] {
			return // of a buffer that was larger than its option says
		}
		*options[b] = int64(size)
		if !set.Quietresize {
			s.opts.Warn(fmt.Sprintf("%s lowered to %s", bufferNames[b], sizeText(size)))
		}
	}
}

// sizeText is a size with the suffix that it has in full.
func sizeText(size int) string {
	if size < 1<<10 || size%(1<<10) != 0 {
		return fmt.Sprintf("%d bytes", size)
	}
	suffix := 0
	for size%(1<<10) == 0 && suffix < 4 {
		size >>= 10
		suffix++
	}
	return fmt.Sprintf("%d%c", size, " kmgt"[suffix])
}
