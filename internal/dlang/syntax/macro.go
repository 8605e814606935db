package syntax

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// scanMacro scans a macro variable and puts the token in its place that it
// stands for: an integer, a string ($$ always gives one) or an identifier.
func (s *scanner) scanMacro(l *lexeme) {
	sigil := 1
	if s.peek(1) == '$' {
		sigil = 2
	}
	name := s.input[s.off+sigil : s.off+sigil+s.macroLen(sigil)]
	if name == "" {
		s.scanIllegal(l)
		return
	}
	l.text = s.input[s.off : s.off+sigil+len(name)]
	s.off += len(l.text)
	l.tok, l.decimal = INT, true // also if it is undefined

	value, err := s.macro(name, sigil == 2)
	switch {
	case err != nil:
		s.errorf(l.pos, "D_MACRO_UNDEF", "%s", err)
	case sigil == 2:
		l.tok, l.str = STRING, unescape(value)
	default:
		s.substitute(l, value)
	}
}

// macroLen returns the length of the macro's name that begins n bytes ahead.
func (s *scanner) macroLen(n int) int {
	if isDigit(s.peek(n)) {
		rest := s.input[s.off+n:]
		return len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	}
	return len(s.word(s.off + n))
}

// macro returns the text of a macro variable: an argument if the name is a
// number. quoted asks for the default of $$1 rather than that of $1.
func (s *scanner) macro(name string, quoted bool) (string, error) {
	if isDigit(name[0]) {
		return s.macroArg(name, quoted)
	}
	if id, ok := s.macroID(name); ok {
		return strconv.FormatInt(int64(int32(id)), 10), nil
	}
	switch name {
	case "projid", "taskid":
		return "", errors.New("macro variable $" + name + " is not defined: Linux has no projects and tasks")
	}
	return "", errors.New("macro variable $" + name + " is not defined")
}

func (s *scanner) macroArg(name string, quoted bool) (string, error) {
	n, err := strconv.Atoi(name)
	switch {
	case err == nil && n < len(s.cfg.Args):
		s.used[n] = true
		return s.cfg.Args[n], nil
	case !s.cfg.DefaultArgs:
		return "", errors.New("macro argument $" + name + " is not defined")
	case quoted:
		return "", nil
	}
	return "0", nil
}

func (s *scanner) macroID(name string) (int, bool) {
	ids := &s.cfg.IDs
	switch name {
	case "pid":
		return ids.Pid, true
	case "ppid":
		return ids.Ppid, true
	case "pgid":
		return ids.Pgid, true
	case "sid":
		return ids.Sid, true
	case "uid":
		return ids.Uid, true
	case "euid":
		return ids.Euid, true
	case "gid":
		return ids.Gid, true
	case "egid":
		return ids.Egid, true
	case "target":
		return s.cfg.Target, true
	}
	return 0, false
}

// substitute makes l the token that value spells: an integer, an identifier, or
// otherwise a string, whose quotes are dropped.
func (s *scanner) substitute(l *lexeme, value string) {
	number := strings.TrimLeft(value, "+-")
	switch {
	case number != "" && isDigit(number[0]) && len(value)-len(number) <= 1:
		if s.substituteInt(l, number, value[0] == '-') {
			return
		}
	case isName(value):
		l.tok, l.str = IDENT, value
		return
	}
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	l.tok, l.str = STRING, unescape(value)
}

// substituteInt makes l an integer if number spells one.
func (s *scanner) substituteInt(l *lexeme, number string, negative bool) bool {
	digits := strings.TrimRight(number, "uUlL")
	val, err := strconv.ParseUint(digits, 0, 64)
	if errors.Is(err, strconv.ErrRange) {
		val = math.MaxUint64
		s.errorf(l.pos, "D_MACRO_OFLOW", "macro argument %s constant %s results in integer overflow", l.text, number)
	} else if err != nil || strings.Contains(digits, "_") {
		return false
	}
	l.tok, l.val, l.negative = INT, val, negative
	l.suffix = strings.ToLower(number[len(digits):])
	l.decimal = digits[0] != '0' || digits == "0"
	return true
}

// checkArgs reports the last argument if nothing in the program refers to it.
func (s *scanner) checkArgs() {
	last := len(s.cfg.Args) - 1
	if last > 0 && !s.cfg.ArgRef && !s.used[last] {
		s.errorf(Pos{Source: s.src}, "D_MACRO_UNUSED", "extraneous argument '%s' ($%d is not referenced)",
			s.cfg.Args[last], last)
	}
}
