package syntax

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lexeme is a token with its place and value.
type lexeme struct {
	tok  Token
	pos  Pos
	text string // as written: what "syntax error near" quotes

	str      string // IDENT, KEYWORD, AGG, PSPEC: the name; STRING: the value
	val      uint64 // INT, CHAR
	suffix   string // INT: u, l, ul, ... in lower case
	decimal  bool   // INT: written in decimal
	negative bool   // INT: from a macro argument with a minus sign
}

// is reports whether the lexeme is the keyword word.
func (l *lexeme) is(word string) bool { return l.tok == KEYWORD && l.str == word }

// A scanner takes D apart into lexemes. Two languages alternate in a D program:
// outside clauses and declarations (outer) words are probe descriptions, inside
// they are C's tokens. The parser switches between them; the scanner leaves the
// outer language by itself when it meets a word that begins a declaration.
//
// A scanner is a plain value: a copy of it is a place to return to.
type scanner struct {
	input string
	off   int

	file      *Source // where the current line comes from
	line      int
	lineStart int // offset of the line's first byte

	outer     bool
	listed    bool // after a comma between probe descriptions
	predicate bool // between the slashes of a predicate
	parens    int  // open ( in the current declaration
	brackets  int  // open [ in the current declaration
	unclosed  bool // a comment has no end
	quiet     bool // looking ahead, or skipping after an error: report nothing
	pragmas   []*Pragma

	*shared
}

// shared is what the copies of a scanner have in common.
type shared struct {
	src    *Source
	cfg    *Config
	errs   ErrorList
	files  map[string]*Source // named by line directives
	used   []bool             // of cfg.Args
	isType func(name string) bool
}

// ByteOrderMark is what some editors put before a text. It is no part of it.
const ByteOrderMark = "\ufeff"

func newScanner(src *Source, cfg *Config) *scanner {
	mark := len(src.Text) - len(strings.TrimPrefix(src.Text, ByteOrderMark))
	return &scanner{
		input: src.Text, off: mark, lineStart: mark, file: src, line: 1, outer: true,
		shared: &shared{
			src: src, cfg: cfg,
			files:  map[string]*Source{},
			used:   make([]bool, len(cfg.Args)),
			isType: func(string) bool { return false },
		},
	}
}

func (s *scanner) errorf(pos Pos, tag, format string, args ...any) {
	if !s.quiet {
		s.errs.Add(pos, tag, format, args...)
	}
}

// posAt returns the position of an offset in the current line.
func (s *scanner) posAt(off int) Pos {
	return Pos{Source: s.file, Line: s.line, Column: off - s.lineStart + 1}
}

// peek returns the byte n places ahead, or 0 at the end.
func (s *scanner) peek(n int) byte {
	if s.off+n < len(s.input) {
		return s.input[s.off+n]
	}
	return 0
}

// newline notes that the byte before off ended a line.
func (s *scanner) newline(off int) {
	s.line++
	s.lineStart = off
}

// scan returns the next lexeme; at the end of the text, EOF again and again.
func (s *scanner) scan() lexeme {
	if l, bad := s.skip(); bad {
		return l
	}
	start := s.off
	l := lexeme{pos: s.posAt(start)}
	if start == len(s.input) {
		l.tok = EOF
		return l
	}
	if s.outer {
		s.scanOuter(&l)
	} else {
		s.scanInner(&l)
	}
	if l.text == "" {
		l.text = s.input[start:s.off]
	}
	return l
}

// skip passes white space, comments, control lines and #! lines. If a comment
// does not end it returns an ILLEGAL lexeme and true.
func (s *scanner) skip() (lexeme, bool) {
	for s.off < len(s.input) {
		switch c := s.input[s.off]; {
		case c == '\n':
			s.off++
			s.newline(s.off)
		case isSpace(c):
			s.off++
		case c == '\\' && s.peek(1) == '\n' && !s.outer:
			s.off += 2
			s.newline(s.off)
		case c == '/' && s.peek(1) == '*':
			if l, bad := s.comment(); bad {
				return l, true
			}
		case c == '#' && s.atLineStart():
			s.controlLine()
		default:
			return lexeme{}, false
		}
	}
	return lexeme{}, false
}

// atLineStart reports whether only blanks stand before the current byte.
func (s *scanner) atLineStart() bool {
	return strings.Trim(s.input[s.lineStart:s.off], " \t\v\f\r") == ""
}

// comment passes a comment. D's do not nest, and a second opening is an error,
// since it shows that the first was not closed.
func (s *scanner) comment() (lexeme, bool) {
	l := lexeme{tok: ILLEGAL, pos: s.posAt(s.off), text: "/*"}
	nested := false
	for s.off += 2; s.off < len(s.input); s.off++ {
		switch {
		case s.input[s.off] == '\n':
			s.newline(s.off + 1)
		case s.input[s.off] == '/' && s.peek(1) == '*' && !nested:
			s.errorf(s.posAt(s.off), "D_SYNTAX", "/* encountered inside a comment")
			nested = true
		case s.input[s.off] == '*' && s.peek(1) == '/':
			s.off += 2
			return l, false
		}
	}
	s.errorf(l.pos, "D_SYNTAX", "end-of-file encountered before matching */")
	s.unclosed = true
	return l, true
}

// scanOuter scans a lexeme outside clauses and declarations.
func (s *scanner) scanOuter(l *lexeme) {
	listed := s.listed
	s.listed = false
	switch c := s.input[s.off]; {
	case c == '{':
		l.tok = LBRACE
		s.off++
	case c == '/':
		l.tok = PRED
		s.off++
	case c == ',':
		l.tok, s.listed = COMMA, true
		s.off++
	case isDigit(c) && !strings.Contains(s.input[s.off:s.probeEnd()], ":"):
		s.scanNumber(l)
	case isProbeTail(c) && c != '@' && c != '`' || s.atMethod(0):
		s.scanProbe(l, listed)
	default:
		s.scanIllegal(l)
	}
}

// scanProbe scans a probe description, or the word that begins a declaration
// where one may.
func (s *scanner) scanProbe(l *lexeme, listed bool) {
	end := s.probeEnd()
	l.tok, l.str = PSPEC, s.input[s.off:end]
	if !listed {
		if name := s.declWord(l.str, end); name != "" {
			l.tok, l.str, s.outer = IDENT, name, false
			if keywords[name] {
				l.tok = KEYWORD
			}
		}
	}
	s.off += len(l.str)
}

// probeEnd returns the offset after the probe description that starts here.
func (s *scanner) probeEnd() int {
	for end := s.off; ; {
		switch {
		case s.atMethod(end - s.off):
			end += 2
			if n := strings.IndexAny(s.input[end:], "][{\n"); n >= 0 && s.input[end+n] == ']' {
				end += n + 1
			}
		case end < len(s.input) && isProbeTail(s.input[end]):
			end++
		default:
			return end
		}
	}
}

// atMethod reports whether an Objective-C method, as in -[Class method], starts
// n bytes ahead at the beginning of a field.
func (s *scanner) atMethod(n int) bool {
	c := s.peek(n)
	return (c == '-' || c == '+') && s.peek(n+1) == '[' &&
		(n == 0 || s.input[s.off+n-1] == ':')
}

// declWord returns the keyword or the type's name that a word outside clauses
// begins with, or "" if the word, which ends at end, is a probe description.
// The two look alike: int* begins int*x; and is a probe in int* {...}. What
// follows tells: a clause goes on with a comma, a slash, a brace or nothing, a
// declaration with a name.
func (s *scanner) declWord(word string, end int) string {
	name, _, starred := strings.Cut(word, "*")
	switch {
	case declKeywords[word]:
		return word
	case s.cfg.PSpec || !isName(name):
		return ""
	case strings.Trim(word, "*"+identTail) != "":
		return ""
	}
	look := *s
	look.off, look.quiet = end, true
	look.skip()
	switch look.peek(0) {
	case ',': // int*x, y;
		if starred && (keywords[name] || s.isType(name)) {
			return name
		}
		return ""
	case 0, '/', '{':
		return ""
	}
	if look.atClause() {
		return ""
	}
	return name
}

// atClause reports whether a probe description starts here, of a second clause
// if the first has no body: BEGIN syscall::: or BEGIN END {...}.
func (s *scanner) atClause() bool {
	end := s.probeEnd()
	if end == s.off || strings.Contains(s.input[s.off:end], ":") {
		return end > s.off
	}
	s.off = end
	s.skip()
	return s.peek(0) == '{' || s.peek(0) == '/'
}

// scanInner scans a lexeme of a clause or a declaration.
func (s *scanner) scanInner(l *lexeme) {
	c := s.input[s.off]
	switch {
	case isIdentStart(c):
		s.scanWord(l)
	case isDigit(c) && strings.Contains(s.input[s.off:s.off+s.wordLen(s.off)], "`"):
		s.scanWord(l)
	case isDigit(c) || c == '.' && isDigit(s.peek(1)):
		s.scanNumber(l)
	case c == '"':
		s.scanString(l)
	case c == '\'':
		s.scanChar(l)
	case c == '@':
		s.off++
		l.tok = AGG
		l.str = s.word(s.off)
		s.off += len(l.str)
	case c == '$':
		s.scanMacro(l)
	default:
		s.scanOperator(l)
	}
}

// scanWord scans an identifier or a keyword.
func (s *scanner) scanWord(l *lexeme) {
	l.str = s.input[s.off : s.off+s.wordLen(s.off)]
	s.off += len(l.str)
	switch {
	case keywords[l.str]:
		l.tok = KEYWORD
	case !isName(l.str):
		l.tok = ILLEGAL
		s.errorf(l.pos, "D_SYNTAX", "syntax error near \"%s\"", l.str)
	default:
		l.tok = IDENT
	}
}

// isName reports whether s is an identifier, maybe with a module's name, which
// unlike it may begin with a digit: 8021q`vlan_dev_init.
func isName(s string) bool {
	_, name := splitModule(s)
	return name != "" && !isDigit(name[0]) && strings.Trim(s, identTail) == ""
}

// wordLen returns the length of the word at off: letters, digits, backticks.
func (s *scanner) wordLen(off int) int {
	end := off
	for end < len(s.input) && (isIdentStart(s.input[end]) || isDigit(s.input[end])) {
		end++
	}
	return end - off
}

// word returns the identifier without a module's name at off, or "".
func (s *scanner) word(off int) string {
	w, _, _ := strings.Cut(s.input[off:off+s.wordLen(off)], "`")
	if w == "" || isDigit(w[0]) {
		return ""
	}
	return w
}

// operators by their text, the longest first.
var operators = func() (ops [4][]Token) {
	for t := ADD; t <= BACKTICK; t++ {
		if t != BACKTICK {
			ops[len(t.String())] = append(ops[len(t.String())], t)
		}
	}
	return ops
}()

func (s *scanner) scanOperator(l *lexeme) {
	for n := 3; n > 0; n-- {
		for _, t := range operators[n] {
			if strings.HasPrefix(s.input[s.off:], t.String()) {
				l.tok = t
				s.off += n
				s.count(l)
				return
			}
		}
	}
	s.scanIllegal(l)
}

// count keeps the numbers of open parentheses and brackets, and decides which
// slash closes a predicate.
func (s *scanner) count(l *lexeme) {
	switch l.tok {
	case LPAREN:
		s.parens++
	case LBRACK:
		s.brackets++
	case RPAREN:
		if s.parens--; s.parens < 0 {
			s.extra(l, &s.parens)
		}
	case RBRACK:
		if s.brackets--; s.brackets < 0 {
			s.extra(l, &s.brackets)
		}
	case DIV:
		if s.predicate && s.closesPredicate() {
			s.scanPredicateEnd(l)
		}
	}
}

func (s *scanner) extra(l *lexeme, open *int) {
	s.errorf(l.pos, "D_SYNTAX", "extra %s in input stream", l.tok)
	l.tok, *open = ILLEGAL, 0
}

// closesPredicate reports whether the slash just scanned ends a predicate: if
// a body, another slash, a semicolon or nothing follows, it cannot divide.
func (s *scanner) closesPredicate() bool {
	look := *s
	look.quiet = true
	look.skip()
	return strings.IndexByte("\x00{/;", look.peek(0)) >= 0
}

func (s *scanner) scanPredicateEnd(l *lexeme) {
	l.tok = PRED
	for _, open := range []struct {
		n     int
		close string
	}{{s.parens, ")"}, {s.brackets, "]"}} {
		if open.n > 0 {
			s.errorf(l.pos, "D_SYNTAX", "closing %s expected in predicate before /", open.close)
			l.tok = ILLEGAL
		}
	}
}

func (s *scanner) scanIllegal(l *lexeme) {
	r, n := utf8.DecodeRuneInString(s.input[s.off:])
	l.tok = ILLEGAL
	format := "syntax error near \"%s\""
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		format = "syntax error near %q" // what cannot be seen, as a string of D has it
	}
	s.errorf(l.pos, "D_SYNTAX", format, s.input[s.off:s.off+n])
	s.off += n
}

// scanNumber scans an integer constant: decimal, octal or hexadecimal, with any
// of C's suffixes.
func (s *scanner) scanNumber(l *lexeme) {
	start := s.off
	digits := "0123456789"
	if s.peek(0) == '0' && (s.peek(1) == 'x' || s.peek(1) == 'X') && isHex(s.peek(2)) {
		digits = "0123456789abcdefABCDEF"
		s.off += 2
	}
	s.skipAny(digits)
	if len(digits) == 10 && s.skipFloat() {
		l.tok = ILLEGAL
		s.errorf(l.pos, "D_SYNTAX", "floating-point constants are not permitted")
		return
	}
	number := s.input[start:s.off]
	l.tok, l.suffix = INT, s.scanSuffix()
	l.decimal = number[0] != '0' || number == "0"

	var err error
	l.val, err = strconv.ParseUint(number, 0, 64)
	switch {
	case err == nil:
	case errors.Is(err, strconv.ErrRange):
		l.val = math.MaxUint64
		s.errorf(l.pos, "D_INT_OFLOW", "constant %s results in integer overflow", number)
	default:
		bad := strings.Trim(number, "01234567")
		s.errorf(l.pos, "D_INT_DIGIT", "constant %s contains invalid digit %c", number, bad[0])
	}
}

func (s *scanner) skipAny(set string) {
	for s.off < len(s.input) && strings.IndexByte(set, s.input[s.off]) >= 0 {
		s.off++
	}
}

// skipFloat passes the rest of a floating-point constant, if there is one.
func (s *scanner) skipFloat() bool {
	start := s.off
	if s.peek(0) == '.' && s.peek(1) != '.' {
		s.off++
		s.skipAny("0123456789")
	}
	if c := s.peek(0); c == 'e' || c == 'E' {
		n := 1
		if c := s.peek(1); c == '+' || c == '-' {
			n = 2
		}
		if isDigit(s.peek(n)) {
			s.off += n
			s.skipAny("0123456789")
		}
	}
	if s.off == start {
		return false
	}
	if c := s.peek(0); c == 'f' || c == 'F' || c == 'l' || c == 'L' {
		s.off++
	}
	return true
}

// scanSuffix passes an integer's suffix and returns it in lower case.
func (s *scanner) scanSuffix() string {
	word := strings.ToLower(s.input[s.off:min(len(s.input), s.off+3)])
	for _, suffix := range []string{"ull", "llu", "ul", "lu", "ll", "u", "l"} {
		if strings.HasPrefix(word, suffix) {
			s.off += len(suffix)
			return suffix
		}
	}
	return ""
}

// quoted passes a constant in quotes and returns what stands between them. It
// returns false, the line being passed, if the line ends before the constant.
func (s *scanner) quoted(quote byte) (string, bool) {
	start := s.off + 1
	for s.off++; s.off < len(s.input); s.off++ {
		switch c := s.input[s.off]; {
		case c == '\n':
			return "", false
		case c == '\\' && s.peek(1) != '\n' && s.off+1 < len(s.input):
			s.off++
		case c == quote:
			s.off++
			return s.input[start : s.off-1], true
		}
	}
	return "", false
}

func (s *scanner) scanString(l *lexeme) {
	text, ok := s.quoted('"')
	if !ok {
		l.tok = ILLEGAL
		s.errorf(l.pos, "D_STR_NL", "newline encountered in string literal")
		return
	}
	l.tok, l.str = STRING, unescape(text)
}

// scanChar scans a character constant. As in libdtrace, one of several
// characters has the first in its highest byte.
func (s *scanner) scanChar(l *lexeme) {
	text, ok := s.quoted('\'')
	if !ok {
		l.tok = ILLEGAL
		s.errorf(l.pos, "D_CHR_NL", "newline encountered in character constant")
		return
	}
	l.tok, l.decimal = CHAR, true
	value := unescape(text)
	switch {
	case value == "":
		s.errorf(l.pos, "D_CHR_NULL", "empty character constant")
	case len(value) > 8:
		s.errorf(l.pos, "D_CHR_OFLOW", "character constant is too long")
	}
	for _, c := range []byte(value) {
		l.val = l.val<<8 | uint64(c)
	}
}

// unescape replaces C's escape sequences. A backslash before any other byte
// stays, as in libdtrace.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case '0' <= c && c <= '7':
			i += unescapeDigits(&b, s[i:], 3, 8) - 1
		case c == 'x' && i+1 < len(s) && isHex(s[i+1]):
			i += unescapeDigits(&b, s[i+1:], len(s), 16)
		case strings.IndexByte(`"'?\`, c) >= 0:
			b.WriteByte(c)
		default:
			if n := strings.IndexByte("abfnrtv", c); n >= 0 {
				b.WriteByte("\a\b\f\n\r\t\v"[n])
			} else {
				b.WriteByte('\\')
				b.WriteByte(c)
			}
		}
	}
	return b.String()
}

// unescapeDigits writes the byte of a numeric escape sequence of at most limit
// digits and returns how many it has.
func unescapeDigits(b *strings.Builder, s string, limit, base int) int {
	n, v := 0, 0
	for n < len(s) && n < limit {
		d, err := strconv.ParseUint(s[n:n+1], base, 8)
		if err != nil {
			break
		}
		v = (v*base + int(d)) & 0xff
		n++
	}
	b.WriteByte(byte(v))
	return n
}

const identTail = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_`0123456789"

func isSpace(c byte) bool      { return c == ' ' || '\t' <= c && c <= '\r' }
func isDigit(c byte) bool      { return '0' <= c && c <= '9' }
func isHex(c byte) bool        { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isIdentStart(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '`' }

// isProbeChar reports whether a probe description may start with c.
func isProbeChar(c byte) bool {
	return isIdentStart(c) && c != '`' || c != 0 && strings.IndexByte("-$:.?*\\[]!", c) >= 0
}

// isProbeTail reports whether a probe description may go on with c.
func isProbeTail(c byte) bool {
	return isProbeChar(c) || isDigit(c) || c == '`' || c == '@'
}
