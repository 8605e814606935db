package syntax

import (
	"strconv"
	"strings"
)

// A word is an element of a control line.
type word struct {
	text   string
	quoted bool
}

// number returns the word's value if it is an integer.
func (w word) number() (int, bool) {
	if w.quoted || w.text == "" || !isDigit(w.text[0]) {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimRight(w.text, "uUlL"), 0, 32)
	return int(n), err == nil
}

// controlLine passes a line that begins with #: an interpreter line, a line
// directive, a pragma. Its errors are reported at the #.
func (s *scanner) controlLine() {
	pos := s.posAt(s.off)
	start := s.off + 1
	end := len(s.input)
	if n := strings.IndexByte(s.input[start:], '\n'); n >= 0 {
		end = start + n
	}
	s.off = end
	if end > start && s.input[start] == '!' {
		return
	}
	list, ok := s.controlWords(pos, s.input[start:end])
	if !ok || len(list) == 0 {
		return
	}
	if _, ok := list[0].number(); ok {
		s.lineDirective(pos, list)
		return
	}
	s.directive(pos, list)
}

// controlWords splits a control line. It returns false after an error.
func (s *scanner) controlWords(pos Pos, line string) (list []word, ok bool) {
	for {
		line = strings.TrimLeft(line, " \t\v\f\r")
		switch {
		case line == "":
			return list, true
		case line[0] == '"':
			q := scanner{input: line}
			text, closed := q.quoted('"')
			if !closed {
				s.errorf(pos, "D_STR_NL", "newline encountered in string literal")
				return nil, false
			}
			list = append(list, word{unescape(text), true})
			line = line[q.off:]
		default:
			n := strings.IndexAny(line+" ", " \t\v\f\r\"")
			list = append(list, word{line[:n], false})
			line = line[n:]
		}
	}
}

// directive obeys #line, #error, #ident and #pragma. A pragma that is not D's
// is passed over, as in C.
func (s *scanner) directive(pos Pos, list []word) {
	name, args := list[0].text, list[1:]
	switch {
	case list[0].quoted:
		s.errorf(pos, "D_PRAGCTL_INVAL", "invalid control directive")
	case name == "pragma":
		s.pragma(pos, args)
	case s.common(pos, name, args):
	case cppDirectives[name]:
		s.errorf(pos, "D_PRAGCTL_INVAL", "invalid control directive: #%s (the preprocessor runs only under -C)", name)
	default:
		s.errorf(pos, "D_PRAGCTL_INVAL", "invalid control directive: #%s", name)
	}
}

var cppDirectives = words("define undef include if ifdef ifndef elif else endif")

// common obeys the directives that may follow # as well as #pragma. It returns
// false if name is not one of them.
func (s *scanner) common(pos Pos, name string, args []word) bool {
	switch name {
	case "line":
		s.lineDirective(pos, args)
	case "error":
		s.errorf(pos, "D_PRAGERR", "#error: %s", joinWords(args))
	case "ident":
	default:
		return false
	}
	return true
}

func (s *scanner) pragma(pos Pos, list []word) {
	if len(list) == 0 {
		return
	}
	if list[0] != (word{"D", false}) {
		s.common(pos, list[0].text, list[1:])
		return
	}
	if list = list[1:]; len(list) == 0 {
		return
	}
	kind, args := list[0].text, list[1:]
	check := dPragmas[kind]
	switch {
	case check != nil:
		if !check(s, pos, args) {
			return
		}
	case s.common(pos, kind, args):
		return
	default:
		s.errorf(pos, "D_PRAGMA_INVAL", "invalid D pragma: %s", kind)
		return
	}
	p := &Pragma{At: pos, Kind: kind}
	for _, a := range args {
		p.Args = append(p.Args, a.text)
	}
	s.pragmas = append(s.pragmas, p)
}

// dPragmas check the arguments of the pragmas that only #pragma D knows.
var dPragmas = map[string]func(s *scanner, pos Pos, args []word) bool{
	"attributes": (*scanner).pragmaAttributes,
	"binding":    (*scanner).pragmaBinding,
	"depends_on": (*scanner).pragmaDepends,
	"option":     (*scanner).pragmaOption,
}

func (s *scanner) pragmaOption(pos Pos, args []word) bool {
	switch {
	case len(args) == 0 || args[0].quoted:
		s.errorf(pos, "D_PRAGMA_MALFORM", "malformed #pragma option <option>=<val>")
	case len(args) > 1:
		s.errorf(pos, "D_PRAGMA_MALFORM", "superfluous arguments specified for #pragma option")
	default:
		return true
	}
	return false
}

func (s *scanner) pragmaAttributes(pos Pos, args []word) bool {
	switch {
	case len(args) < 2 || args[0].quoted || args[1].quoted,
		args[1].text == "provider" && len(args) < 4:
		s.errorf(pos, "D_PRAGMA_MALFORM", "malformed #pragma attributes <attributes> <ident>")
	case !validAttributes(args[0].text):
		s.errorf(pos, "D_PRAGMA_INVAL", "invalid attributes specified by #pragma attributes")
	case args[1].text == "provider" && !providerParts[args[3].text]:
		s.errorf(pos, "D_PRAGMA_INVAL", "invalid component \"%s\" in attribute #pragma for provider %s",
			args[3].text, args[2].text)
	default:
		return true
	}
	return false
}

var (
	stabilities   = words("internal private obsolete external unstable evolving stable standard")
	depClasses    = words("unknown cpu platform group isa common")
	providerParts = words("provider module function name args")
)

// validAttributes reports whether s is a stability triple, name/data/class, of
// which the end may be missing.
func validAttributes(s string) bool {
	parts := strings.Split(strings.ToLower(s), "/")
	for i, part := range parts {
		switch {
		case i < 2 && !stabilities[part], i == 2 && !depClasses[part], i > 2:
			return false
		}
	}
	return true
}

func (s *scanner) pragmaBinding(pos Pos, args []word) bool {
	switch {
	case len(args) < 2 || !args[0].quoted || args[1].quoted:
		s.errorf(pos, "D_PRAGMA_MALFORM", "malformed #pragma binding \"version\" <ident>")
	case !validVersion(args[0].text):
		s.errorf(pos, "D_PRAGMA_INVAL", "invalid version string specified by #pragma binding")
	default:
		return true
	}
	return false
}

// validVersion reports whether s is a version of D: at most three numbers, of
// 8, 12 and 12 bits.
func validVersion(s string) bool {
	parts := strings.Split(s, ".")
	for i, part := range parts {
		if n, err := strconv.ParseUint(part, 10, 12); err != nil || i > 2 || i == 0 && n > 0xff {
			return false
		}
	}
	return true
}

func (s *scanner) pragmaDepends(pos Pos, args []word) bool {
	if len(args) < 2 || args[0].quoted || args[1].quoted {
		s.errorf(pos, "D_PRAGMA_MALFORM", "malformed #pragma depends_on <class> <name>")
		return false
	}
	switch class := args[0].text; {
	case class == "library" && !s.cfg.Library:
		s.errorf(pos, "D_PRAGMA_DEPEND", "main program may not explicitly depend on a library")
	case class == "provider", class == "module", class == "library":
		return true
	default:
		s.errorf(pos, "D_PRAGMA_INVAL", "invalid class %s specified by #pragma depends_on", class)
	}
	return false
}

// checkPragmas reports the pragmas that say something of a name that the
// program does not define.
func (p *parser) checkPragmas(f *File) {
	translators := false
	for _, d := range f.Decls {
		_, ok := d.(*TranslatorDecl)
		translators = translators || ok
	}
	for _, pragma := range f.Pragmas {
		if pragma.Kind != "attributes" && pragma.Kind != "binding" {
			continue
		}
		switch name := pragma.Args[1]; {
		case p.names[name], name == "translator" && translators:
		case name == "provider" && pragma.Kind == "attributes":
		case builtins[name]:
			p.errorf(pragma.At, "D_PRAGMA_SCOPE", "#pragma %s cannot modify entity defined outside program scope", pragma.Kind)
		default:
			p.errorf(pragma.At, "D_PRAGMA_UNUSED", "unused #pragma %s", pragma.Kind)
		}
	}
}

func joinWords(list []word) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// lineDirective obeys `#line number "file" state`: it names the next line.
func (s *scanner) lineDirective(pos Pos, list []word) {
	line, ok := 0, len(list) > 0
	if ok {
		line, ok = list[0].number()
	}
	if len(list) > 1 && !list[1].quoted {
		ok = false
	}
	if len(list) > 2 {
		if _, isInt := list[2].number(); !isInt {
			ok = false
		}
	}
	if !ok {
		s.errorf(pos, "D_PRAGMA_MALFORM", "malformed #line <line> [ [\"file\"] state ]")
		return
	}
	s.line = line - 1 // the newline of this directive is still ahead
	if len(list) > 1 {
		s.file = s.sourceOf(list[1].text)
	}
}

// sourceOf returns the source that a line directive names. A preprocessor that
// reads standard input gives the program itself a name of its own.
func (s *scanner) sourceOf(name string) *Source {
	switch {
	case name == "<stdin>", name == "/dev/stdin", strings.HasPrefix(name, "/dev/fd/"):
		name = s.src.Name
	}
	if f := s.files[name]; f != nil {
		return f
	}
	var f *Source
	if s.cfg.Included != nil {
		f = s.cfg.Included(name)
	}
	if f == nil {
		f = &Source{Name: name}
	}
	s.files[name] = f
	return f
}
