package consume

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
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

// portText is the name of a service, or the port's number.
func portText(port uint16) string {
	if name, ok := services()[port]; ok {
		return name
	}
	return strconv.Itoa(int(port))
}

// services are the names of ports that services(5) has, the first of each.
var services = sync.OnceValue(func() map[uint16]string {
	names := make(map[uint16]string)
	text, err := os.ReadFile("/etc/services")
	if err != nil {
		return names // then ports are shown as numbers
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		number, _, _ := strings.Cut(fields[1], "/")
		port, err := strconv.ParseUint(number, 10, 16)
		if _, known := names[uint16(port)]; err == nil && !known {
			names[uint16(port)] = fields[0]
		}
	}
	return names
})

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
