package consume

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// timeText renders nanoseconds since the epoch in local time: under %Y (and %y)
// as "2026 Nov 29 17:20:00", under %T as RFC 822 has it.
func timeText(verb byte, ns uint64) string {
	t := time.Unix(0, int64(ns))
	if verb == 'T' {
		return t.Format("Mon, 02 Jan 2006 15:04:05 MST")
	}
	return t.Format("2006 Jan _2 15:04:05")
}

// portText is the name of a TCP service, or the port's number.
func portText(port uint16) string {
	return strconv.Itoa(int(port))
}

// hostText is the name of a host whose address is given as text, or the
// address.
func hostText(address string) string {
	if _, err := netip.ParseAddr(address); err != nil {
		return address
	}
	names, err := net.LookupAddr(address)
	if err != nil || len(names) == 0 {
		return address
	}
	return strings.TrimSuffix(names[0], ".")
}
