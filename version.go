package kinst

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// versions are those of D that libdtrace knows, the oldest first
// (_dtrace_versions in its dt_open.c). kinst's is the last.
var versions = strings.Fields("1.0 1.1 1.2 1.2.1 1.2.2 1.3 1.4 1.4.1 1.5 1.6 1.6.1 1.6.2 1.6.3 1.7 1.7.1" +
	" 1.8 1.8.1 1.9 1.9.1 1.10 1.11 1.12 1.12.1 1.13")

// checkVersion checks a value of the option version. As in libdtrace a version
// can be lowered only.
func checkVersion(s *Settings, text string) error {
	at := func(version string) int {
		return slices.IndexFunc(versions, func(v string) bool { return versionNumber(v) == versionNumber(version) })
	}
	newest := versions[len(versions)-1]
	switch i := at(text); {
	case versionNumber(text) == 0:
		return fmt.Errorf("%q is not a version of D, such as %s", text, newest)
	case i < 0 && versionNumber(text) > versionNumber(newest):
		return fmt.Errorf("version %s of D is newer than what kinst knows, %s", text, newest)
	case i < 0:
		return fmt.Errorf("there is no version %s of D; there are %s", text, strings.Join(versions, " "))
	case i > at(s.Version):
		return fmt.Errorf("version %s of D is newer than %s, which has been asked for before", text, s.Version)
	}
	return nil
}

// versionNumber returns a version as __SUNW_D_VERSION has it: 8 bits of the
// first number, 12 of the second, 12 of a third. It is 0 for what is no version.
func versionNumber(text string) uint32 {
	var number uint32
	parts := strings.Split(text, ".")
	if len(parts) > 3 {
		return 0
	}
	for i, part := range parts {
		shift := 24 - 12*i
		n, err := strconv.ParseUint(part, 10, 12)
		if err != nil || i == 0 && n > 0xff {
			return 0
		}
		number |= uint32(n) << shift
	}
	return number
}
