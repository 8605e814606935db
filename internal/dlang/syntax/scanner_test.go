package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lexemes scans text, inside a clause unless outer is set, and returns its
// lexemes as words: the token's name, with the value where it has one.
func lexemes(text string, outer bool) string {
	s := newScanner(&Source{Text: text}, &Config{})
	s.outer = outer
	var list []string
	for {
		switch l := s.scan(); l.tok {
		case EOF:
			return strings.Join(list, " ")
		case IDENT, KEYWORD, PSPEC, AGG:
			list = append(list, fmt.Sprintf("%s:%s", map[Token]string{
				IDENT: "ident", KEYWORD: "word", PSPEC: "probe", AGG: "agg"}[l.tok], l.str))
		case STRING:
			list = append(list, fmt.Sprintf("%q", l.str))
		case INT, CHAR:
			list = append(list, fmt.Sprintf("%d%s", l.val, l.suffix))
		case ILLEGAL:
			list = append(list, "ILLEGAL")
		default:
			list = append(list, l.tok.String())
		}
	}
}

func TestScanInner(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" \t\r\f\v\n", ""},
		{"a _b9 `c m`d a`b`c", "ident:a ident:_b9 ident:`c ident:m`d ident:a`b`c"},
		{"8021q`a `0 a` 1`", "ident:8021q`a ILLEGAL ILLEGAL ILLEGAL"},
		{"if iff self this sizeof string", "word:if ident:iff word:self word:this word:sizeof word:string"},
		{"+ - * / % & | ^ << >>", "+ - * / % & | ^ << >>"},
		{"+= -= *= /= %= &= |= ^= <<= >>=", "+= -= *= /= %= &= |= ^= <<= >>="},
		{"&& || ^^ ! ~ ++ --", "&& || ^^ ! ~ ++ --"},
		{"== != < <= > >= =", "== != < <= > >= ="},
		{"? : , ; . -> ... ( ) [ ] { }", "? : , ; . -> ... ( ) [ ] { }"},
		{"a+++b", "ident:a ++ + ident:b"},
		{"a<<=b>>=c", "ident:a <<= ident:b >>= ident:c"},
		{"a^^b^c", "ident:a ^^ ident:b ^ ident:c"},
		{"a->b.c..d", "ident:a -> ident:b . ident:c . . ident:d"},
		{"a....b", "ident:a ... . ident:b"},
		{"@ @a @[ @1", "agg: agg:a agg: [ agg: 1"},
		{"0 1 017 0x1f 0XAb 42u 42UL 42llu", "0 1 15 31 171 42u 42ul 42llu"},
		{"18446744073709551615", "18446744073709551615"},
		{"0x", "0 ident:x"},
		{"1x", "1 ident:x"},
		{"1.5 .5 1e3 1.e-3f 1..2", "ILLEGAL ILLEGAL ILLEGAL ILLEGAL 1 . ILLEGAL"},
		{`'a' '\n' '\'' 'ab' '\x7f' '\177'`, "97 10 39 24930 127 127"},
		{`"" "a" "\"" "\\" "\a\b\f\n\r\t\v" "\?\'"`, `"" "a" "\"" "\\" "\a\b\f\n\r\t\v" "?'"`},
		{`"\0" "\01" "\1011" "\x41g" "\xg" "\q" "\8"`, `"\x00" "\x01" "A1" "Ag" "\\xg" "\\q" "\\8"`},
		{`"/* no comment */" '/*'`, `"/* no comment */" 12074`},
		{"a/* b */c /**/ /***/ d", "ident:a ident:c ident:d"},
		{"a /* b\n\n */ c", "ident:a ident:c"},
		{"a \\\n b", "ident:a ident:b"},
		{"a // b", "ident:a / / ident:b"},
		{"#! anything 'at all'\na", "ident:a"},
		{"  #pragma D option quiet\na # b", "ident:a ILLEGAL ident:b"},
		{"a \x00 b \xff", "ident:a ILLEGAL ident:b ILLEGAL"},
		{"é", "ILLEGAL"},
		{"\"a\nb", "ILLEGAL ident:b"},
		{"'a\nb", "ILLEGAL ident:b"},
		{"\"a", "ILLEGAL"},
		{`"a\`, "ILLEGAL"},
		{"/*", "ILLEGAL"},
	} {
		if diff := cmp.Diff(tt.want, lexemes(tt.text, false)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.text, diff)
		}
	}
}

func TestScanOuter(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"BEGIN", "probe:BEGIN"},
		{"BEGIN{", "probe:BEGIN {"},
		{"BEGIN/", "probe:BEGIN /"},
		{"syscall::read*:entry,syscall::write?:[er]*", "probe:syscall::read*:entry , probe:syscall::write?:[er]*"},
		{"a:b:c:d , e:f:g:h /", "probe:a:b:c:d , probe:e:f:g:h /"},
		{"kinst::vfs_read:0x9", "probe:kinst::vfs_read:0x9"},
		{"kinst::foo.cold:", "probe:kinst::foo.cold:"},
		{"kinst:: foo", "probe:kinst:: probe:foo"},
		{"pid$target:libc.so.6:malloc:entry", "probe:pid$target:libc.so.6:malloc:entry"},
		{"$1:::,pid$$1:::", "probe:$1::: , probe:pid$$1:::"},
		{"tick-10ms profile-997", "probe:tick-10ms probe:profile-997"},
		{"::memcpy@@GLIBC_2.14:entry", "probe:::memcpy@@GLIBC_2.14:entry"},
		{"objc1:Class:-method:entry", "probe:objc1:Class:-method:entry"},
		{"objc1::-[Class method]:entry", "probe:objc1::-[Class method]:entry"},
		{"objc1::+[Class method:]:entry {", "probe:objc1::+[Class method:]:entry {"},
		{"objc1::-[Class\nx]:entry", "probe:objc1::-[Class probe:x]:entry"},
		{"::a`b:!c:\\*", "probe:::a`b:!c:\\*"},
		{"12 , 0x1f", "12 , 31"},
		{"1:2:3:4 {", "probe:1:2:3:4 {"},
		{"/* c */ BEGIN /* c */ {", "probe:BEGIN {"},
		{"BEGIN END {", "probe:BEGIN probe:END {"},
		{"BEGIN a:b", "probe:BEGIN probe:a:b"},
		{"BEGIN, END\nint {", "probe:BEGIN , probe:END word:int {"},
		{"int x;", "word:int ident:x ;"},
		{"int*x;", "word:int * ident:x ;"},
		{"int* {", "probe:int* {"},
		{"int*x, y;", "word:int * ident:x , ident:y ;"},
		{"int::", "probe:int::"},
		{"inter {", "probe:inter {"},
		{"foo x;", "ident:foo ident:x ;"},
		{"foo *x;", "ident:foo * ident:x ;"},
		{"foo* x;", "ident:foo * ident:x ;"},
		{"foo**x;", "ident:foo * * ident:x ;"},
		{"foo (*x)(int);", "ident:foo ( * ident:x ) ( word:int ) ;"},
		{"foo*x, y;", "probe:foo*x , probe:y ILLEGAL"},
		{"foo*x {", "probe:foo*x {"},
		{"foo*", "probe:foo*"},
		{"uint64_t x;", "ident:uint64_t ident:x ;"},
		{"ext4`foo_t x;", "ident:ext4`foo_t ident:x ;"},
		{"*foo x", "probe:*foo probe:x"},
		{"struct s {", "word:struct ident:s {"},
		{"self int x;", "word:self word:int ident:x ;"},
		{"inline int x = 1;", "word:inline word:int ident:x = 1 ;"},
		{"a;", "ident:a ;"},
		{"@", "ILLEGAL"},
		{"(", "ILLEGAL"},
		{"+[x", "probe:+[x"},
	} {
		if diff := cmp.Diff(tt.want, lexemes(tt.text, true)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.text, diff)
		}
	}
}

// TestScanPredicate tells the slash that divides from the one that closes.
func TestScanPredicate(t *testing.T) {
	for _, tt := range []struct{ predicate, want string }{
		{"/a/", "a"},
		{"/a / b/", "a / b"},
		{"/a /b\n/ c/", "a / b / c"},
		{"/a /= b/", "a /= b"},
		{"/(a / b) / c/", "(a / b) / c"},
		{"/a / /* b */ c/", "a / c"},
		{"/a[b / c] == '/'/", "a[b / c] == '/'"},
		{`/a == "/{"/`, `a == "/{"`},
	} {
		for _, after := range []string{"{}", " {}", "\n{}", " /* c */ {}", "\n#pragma D option quiet\n{}"} {
			f, err := Parse(&Source{Text: "BEGIN " + tt.predicate + after}, nil)
			if err != nil {
				t.Errorf("%s%s: %v", tt.predicate, after, err)
				continue
			}
			if got := String(f.Decls[0].(*Clause).Predicate); got != tt.want {
				t.Errorf("%s%s: %s", tt.predicate, after, got)
			}
		}
	}
}

// What cannot be seen is written so that it can be; a byte-order mark before the
// text is no part of it.
func TestScanUnseen(t *testing.T) {
	for text, want := range map[string]string{
		"BEGIN { \x01 }":           `1:9: syntax error near "\x01"`,
		"BEGIN { \x1b[31m }":       `1:9: syntax error near "\x1b"`,
		"BEGIN { \u00a0 }":         `1:9: syntax error near "\u00a0"`,
		"BEGIN { \xff }":           `1:9: syntax error near "\xff"`,
		"BEGIN { \ufeff }":         `1:9: syntax error near "\ufeff"`,
		"BEGIN { ä }":              `1:9: syntax error near "ä"`,
		"BEGIN { \\ }":             `1:9: syntax error near "\"`,
		"\ufeffBEGIN { # }":        `1:9: syntax error near "#"`,
		"\ufeffBEGIN { exit(0); }": "",
	} {
		got := ""
		if _, err := Parse(&Source{Text: text}, nil); err != nil {
			first := err.(ErrorList)[0]
			got = fmt.Sprintf("%d:%d: %s", first.Pos.Line, first.Pos.Column, first.Msg)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add("syscall::read:entry /x/ { trace(\"a\\n\" 'b' 0x1f); }", true)
	f.Add("a = b->c++ /* d */ `e $1 $$pid @f[g]", false)
	f.Add("#pragma D option quiet\n# 1 \"x\"\n", true)
	f.Fuzz(func(t *testing.T, text string, outer bool) {
		s := newScanner(&Source{Text: text}, &Config{})
		s.outer = outer
		for n := 0; ; n++ {
			start := s.off
			l := s.scan()
			if l.tok == EOF || l.tok == ILLEGAL && s.off == len(text) {
				return
			}
			if s.off <= start {
				t.Fatalf("no progress at %d", start)
			}
			if l.pos.Column < 1 {
				t.Fatalf("%s at %d:%d", l.tok, l.pos.Line, l.pos.Column)
			}
		}
	})
}
