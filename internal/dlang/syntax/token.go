package syntax

// A Token is a lexical element of D. Operators' tokens are also the Op of the
// tree's nodes.
type Token int

const (
	ILLEGAL Token = iota
	EOF

	IDENT
	INT
	CHAR
	STRING
	AGG    // @name
	PSPEC  // a probe description
	PRAGMA // #pragma D ...

	ADD    // +
	SUB    // -
	MUL    // *
	DIV    // /
	MOD    // %
	AND    // &
	OR     // |
	XOR    // ^
	SHL    // <<
	SHR    // >>
	LAND   // &&
	LOR    // ||
	LXOR   // ^^
	NOT    // !
	BITNOT // ~
	INC    // ++
	DEC    // --
	EQL    // ==
	NEQ    // !=
	LSS    // <
	LEQ    // <=
	GTR    // >
	GEQ    // >=
	ASSIGN // =
	ADD_ASSIGN
	SUB_ASSIGN
	MUL_ASSIGN
	DIV_ASSIGN
	MOD_ASSIGN
	AND_ASSIGN
	OR_ASSIGN
	XOR_ASSIGN
	SHL_ASSIGN
	SHR_ASSIGN
	QUESTION // ?
	COLON    // :
	COMMA    // ,
	SEMI     // ;
	DOT      // .
	ARROW    // ->
	ELLIPSIS // ...
	LPAREN   // (
	RPAREN   // )
	LBRACK   // [
	RBRACK   // ]
	LBRACE   // {
	RBRACE   // }
	BACKTICK // `
	PRED     // the / around a predicate

	KEYWORD // struct, sizeof, self, ... (the word tells which)
)

var tokenText = [...]string{
	ILLEGAL: "ILLEGAL", EOF: "end of input", IDENT: "identifier", INT: "integer constant",
	CHAR: "character constant", STRING: "string constant", AGG: "aggregation",
	PSPEC: "probe description", PRAGMA: "#pragma",
	ADD: "+", SUB: "-", MUL: "*", DIV: "/", MOD: "%", AND: "&", OR: "|", XOR: "^",
	SHL: "<<", SHR: ">>", LAND: "&&", LOR: "||", LXOR: "^^", NOT: "!", BITNOT: "~",
	INC: "++", DEC: "--", EQL: "==", NEQ: "!=", LSS: "<", LEQ: "<=", GTR: ">", GEQ: ">=",
	ASSIGN: "=", ADD_ASSIGN: "+=", SUB_ASSIGN: "-=", MUL_ASSIGN: "*=", DIV_ASSIGN: "/=",
	MOD_ASSIGN: "%=", AND_ASSIGN: "&=", OR_ASSIGN: "|=", XOR_ASSIGN: "^=",
	SHL_ASSIGN: "<<=", SHR_ASSIGN: ">>=", QUESTION: "?", COLON: ":", COMMA: ",", SEMI: ";",
	DOT: ".", ARROW: "->", ELLIPSIS: "...", LPAREN: "(", RPAREN: ")", LBRACK: "[",
	RBRACK: "]", LBRACE: "{", RBRACE: "}", BACKTICK: "`", PRED: "/", KEYWORD: "keyword",
}

func (t Token) String() string { return tokenText[t] }

// BinaryOf returns the binary operator of a compound assignment: ADD for
// ADD_ASSIGN. It returns ILLEGAL for anything else.
func (t Token) BinaryOf() Token {
	if t < ADD_ASSIGN || t > SHR_ASSIGN {
		return ILLEGAL
	}
	return [...]Token{ADD, SUB, MUL, DIV, MOD, AND, OR, XOR, SHL, SHR}[t-ADD_ASSIGN]
}
