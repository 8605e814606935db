/* Declarations; each line has one error. */
int /* ERROR D_DECL_USELESS "^useless declaration$" */;
self /* ERROR D_DECL_USELESS "useless declaration" */ int;
typedef /* ERROR D_DECL_USELESS "useless declaration" */ struct s;
int x y /* ERROR D_SYNTAX "near "y": ";" expected" */;
int 5 /* ERROR D_SYNTAX "near "5"" */;
int x, ; /* ERROR D_SYNTAX "near ";"" */
int x = /* ERROR D_SYNTAX "near "=": ";" expected" */ 5;
int *; /* ERROR D_SYNTAX "near ";"" */
int (x; /* ERROR D_SYNTAX "near ";": "\)" expected" */
int x[3; /* ERROR D_SYNTAX "near ";": "\]" expected" */
int x[int; /* ERROR D_SYNTAX "near ";": "\]" expected" */
int x(int; /* ERROR D_SYNTAX "near ";": "\)" expected" */
int x[ /* ERROR D_DECL_PROTO_VARARGS "array prototype may not use a variable-length argument list" */ int, ...];
int x[void /* ERROR D_DECL_PROTO_TYPE "array prototype may not use parameter of type void: \(anonymous\), parameter #1" */];
int x[int, void /* ERROR D_DECL_PROTO_TYPE "type void: v, parameter #2" */ v];
int x[self int /* ERROR D_SYNTAX "near "int": "\]" expected" */];
int x[static /* ERROR D_DECL_PARMCLASS "inappropriate storage class for function or associative array parameter" */ int];
int f(extern /* ERROR D_DECL_PARMCLASS "inappropriate storage class" */ int x);
int f(void /* ERROR D_DECL_PROTO_VOID "void must be sole parameter" */, int);
int f(int, void /* ERROR D_DECL_PROTO_VOID "void must be sole parameter" */);
int f(void /* ERROR D_DECL_PROTO_NAME "void parameter may not have a name: v" */ v);
int f(int a, int /* ERROR D_DECL_PROTO_FORM "parameter is already declared in function prototype: a, parameter #2" */ a);
int f(int, ..., /* ERROR D_SYNTAX "near ","" */ int);
int x`y /* ERROR D_DECL_SCOPE "D scoping operator may not be used in a declaration name \(x`y\)" */;
short /* ERROR D_DECL_CHARATTR "invalid type declaration: short and long may not be used with char type" */ char c;
char /* ERROR D_DECL_CHARATTR "invalid type declaration" */ long c;
unsigned /* ERROR D_DECL_VOIDATTR "invalid type declaration: attributes may not be used with void type" */ void v;
signed /* ERROR D_DECL_SIGNINT "invalid type declaration: signed and unsigned may only be used with integer type" */ double d;
unsigned /* ERROR D_DECL_SIGNINT "invalid type declaration" */ string s;
unsigned /* ERROR D_DECL_SIGNINT "invalid type declaration" */ struct s x;
long /* ERROR D_DECL_LONGINT "invalid type declaration: long and long long may only be used with integer or floating-point type" */ string s;
long /* ERROR D_DECL_LONGINT "invalid type declaration" */ enum e x;
long double d;
short /* ERROR D_DECL_COMBO "invalid type combination" */ double d;
short /* ERROR D_DECL_COMBO "invalid type combination" */ long x;
unsigned /* ERROR D_DECL_COMBO "invalid type combination" */ signed x;
int char /* ERROR D_DECL_COMBO "invalid type combination" */ x;
int int /* ERROR D_DECL_COMBO "invalid type combination" */ x;
long long long /* ERROR D_DECL_COMBO "the attribute 'long' may only be used at most twice in a declaration" */ x;
short short /* ERROR D_DECL_COMBO "the attribute 'short' may only be used at most once in a declaration" */ x;
signed signed /* ERROR D_DECL_COMBO "the attribute 'signed'" */ x;
unsigned int unsigned /* ERROR D_DECL_COMBO "the attribute 'unsigned'" */ x;
int struct /* ERROR D_DECL_COMBO "invalid type combination" */ s x;
struct s int /* ERROR D_DECL_COMBO "invalid type combination" */ x;
extern static /* ERROR D_DECL_CLASS "only one storage class allowed in a declaration" */ int x;
self this /* ERROR D_DECL_CLASS "only one storage class" */ int x;
static /* ERROR D_DECL_BADCLASS "specified storage class not appropriate in D" */ int x;
auto /* ERROR D_DECL_BADCLASS "specified storage class" */ int x;
register /* ERROR D_DECL_BADCLASS "specified storage class" */ int x;
int if /* ERROR D_SYNTAX "near "if"" */;
foo_t x y /* ERROR D_SYNTAX "near "y"" */;
foo_t*x, y z /* ERROR D_SYNTAX "near "z"" */;
counter /* ERROR D_SYNTAX "near "counter"" */ x;
import /* ERROR D_SYNTAX "near "import"" */ x;
int x /* ERROR D_DECL_ARRNULL "array declaration requires array dimension or tuple signature: x" */ [];
int x[3][ /* ERROR D_DECL_DYNOBJ "an associative array may only be a variable" */ int];
int (*x)[ /* ERROR D_DECL_DYNOBJ "an associative array may only be a variable" */ int];
int f(int x[ /* ERROR D_DECL_DYNOBJ "an associative array may only be a variable" */ int]);
struct s { int x[ /* ERROR D_DECL_DYNOBJ "an associative array may only be a variable" */ int]; };
int fine[int][3];
static int fine(void);
extern fine;
extern int fine(...), fine[];
int fine;
