int once;
int once;
long once /* ERROR D_DECL_IDRED "identifier redeclared: once\n\t current: long\n\tprevious: int" */ ;
int pid /* ERROR D_DECL_IDRED "identifier redeclared: pid is a built-in variable" */ ;
int args /* ERROR D_DECL_IDRED "args is a built-in variable" */ ;
int strlen /* ERROR D_DECL_IDRED "strlen is a subroutine" */ ;
int printf /* ERROR D_DECL_IDRED "printf is an action" */ ;
int count /* ERROR D_DECL_IDRED "count is an aggregating function" */ ;
void nothing /* ERROR D_DECL_VOIDOBJ "cannot declare void object: nothing" */ ;
struct nowhere incomplete /* ERROR D_DECL_INCOMPLETE "incomplete struct/union/enum struct nowhere: incomplete" */ ;
nosuch_t /* ERROR D_TYPE_ERR "failed to resolve type nosuch_t" */ x1;
struct a { int x; };
struct /* ERROR D_DECL_TYPERED "type redeclared: struct a" */ a { long x; };
enum e { E1, E2 };
enum /* ERROR D_DECL_TYPERED "type redeclared: enum e" */ e { E3 };
enum e4 { E1 /* ERROR D_DECL_IDRED "identifier redeclared: E1 is an enumerator" */ };
enum e7 { E7, E7 /* ERROR D_DECL_IDRED "identifier redeclared: E7 is an enumerator" */ };
enum e8 { once /* ERROR D_DECL_IDRED "identifier redeclared: once is a variable" */ };
int E1 /* ERROR D_DECL_IDRED "identifier redeclared: E1 is an enumerator" */ ;
inline /* ERROR D_DECL_IDRED "identifier redeclared: E1 is an enumerator" */ int E1 = 1;
enum e5 { E5 /* ERROR D_DECL_ENOFLOW "enumerator 'E5' value overflows INT_MAX \(2147483647\)" */ = 3000000000 };
enum e6 { E6 /* ERROR D_DECL_ENCONST "enumerator 'E6' must be assigned to an integral constant expression" */ = pid };
typedef int t1;
typedef int t1;
typedef long t1 /* ERROR D_DECL_TYPERED "type redeclared: t1\n\t current: long\n\tprevious: int" */ ;
typedef int once /* ERROR D_DECL_IDRED "identifier redeclared: once is a variable" */ ;
typedef int E1 /* ERROR D_DECL_IDRED "identifier redeclared: E1 is an enumerator" */ ;
int s64; /* which DTrace does not know */
typedef int pid /* ERROR D_DECL_IDRED "identifier redeclared: pid is a built-in variable" */ ;
int t1 /* ERROR D_DECL_IDRED "identifier redeclared: t1 is a type" */ ;
inline /* ERROR D_DECL_IDRED "identifier redeclared: t1 is a type" */ int t1 = 1;
enum e9 { t1 /* ERROR D_DECL_IDRED "identifier redeclared: t1 is a type" */ };
typedef struct { int x; } t2;
typedef struct { int x; } t2 /* ERROR D_DECL_TYPERED "type redeclared: t2" */ ;
struct forward;
struct forward { int x; };
struct forward;
struct /* ERROR D_DECL_TYPERED "type redeclared: struct forward" */ forward { int x; };
struct m1 { int x; long y; int x /* ERROR D_UNKNOWN "failed to define member 'x': struct m1 has a member of this name already" */ ; };
union m2 { int x; int x /* ERROR D_UNKNOWN "failed to define member 'x': union m2 has" */ ; };
struct m3 { int x; struct { int y; int z; }; int z /* ERROR D_UNKNOWN "failed to define member 'z': struct m3 has" */ ; };
struct m4 { int x; /* ERROR NEXT D_UNKNOWN "failed to define member 'x': struct m4 has" */
	union { int y; int x; }; };
struct nought { };
struct nought n1 /* ERROR D_DECL_VOIDOBJ "cannot declare an object without members: n1" */ ;
struct nought n2 /* ERROR D_DECL_VOIDOBJ "without members: n2" */ [int];
struct nought n3 /* ERROR D_DECL_VOIDOBJ "without members: n3" */ [2];
struct m6 { int x; struct nought y /* ERROR D_DECL_VOIDOBJ "without members: y" */ ; };
BEGIN { this->nought = /* ERROR D_DECL_VOIDOBJ "without members: struct nought" */ *(struct nought *)arg0; }
struct big0 { char c[1000000]; };
struct big1 { struct big0 a, b, c, d, e, f, g, h; };
struct /* ERROR D_UNKNOWN "struct big2 is too big: it has 72000000 bytes, and 67108864 are the most" */ big2 { struct big1 a, b, c, d, e, f, g, h, i; };
struct m5 { int a : 3; int : 2; int : 2; struct { int x; } b; struct { int x; } c; };
BEGIN { this->m1 = sizeof (struct m1); }
typedef long uint32_t /* ERROR D_DECL_TYPERED "type redeclared: uint32_t" */ ;
struct b1 { int x /* ERROR D_DECL_BFSIZE "bit-field size too big for type: x" */ : 33; };
struct b2 { int x /* ERROR D_DECL_BFSIZE "bit-field size too big for type: x" */ : 0; };
struct b3 { string x /* ERROR D_DECL_BFTYPE "invalid type for bit-field: x" */ : 3; };
struct b4 { int x /* ERROR D_DECL_BFCONST "positive integral constant expression expected as bit-field size: x" */ : pid; };
struct b5 { int x /* ERROR D_DECL_BFCONST "positive integral constant expression" */ : -1; };
struct b6 { void x /* ERROR D_DECL_VOIDOBJ "cannot declare void object: x" */ ; };
struct b7 { struct nowhere x /* ERROR D_DECL_INCOMPLETE "incomplete struct/union/enum struct nowhere: x" */ ; };
int arr1 /* ERROR NEXT D_DECL_ARRSUB "positive integral constant expression or tuple signature expected" */ [3];
int arr2[-1];
int arr3 /* ERROR NEXT D_DECL_ARRSUB "positive integral constant expression" */ [3];
int arr4[pid];
int big1 /* ERROR NEXT D_DECL_ARRBIG "array dimension too big" */ [3];
int big2[100000000];
inline /* ERROR D_DECL_VOIDOBJ "cannot declare void inline: iv" */ void iv = 1;
inline /* ERROR D_DECL_INCOMPLETE "incomplete struct/union/enum struct nowhere: is" */ struct nowhere is = 1;
inline /* ERROR D_OP_INCOMPAT "inline i1 definition uses incompatible types: .int. = .string." */ int i1 = "x";
inline /* ERROR D_OP_INCOMPAT "inline i2 definition uses incompatible types: .string. = .int." */ string i2 = 5;
inline /* ERROR D_DECL_IDRED "identifier redeclared: pid is a built-in variable" */ int pid = 5;
inline /* ERROR D_DECL_IDRED "identifier redeclared: B_READ is an inline" */ int B_READ = 5;
int B_READ /* ERROR D_DECL_IDRED "identifier redeclared: B_READ is an inline" */ ;
enum e10 { B_READ /* ERROR D_DECL_IDRED "identifier redeclared: B_READ is an inline" */ };
typedef long psinfo_t /* ERROR D_DECL_TYPERED "type redeclared: psinfo_t\n\t current: long\n\tprevious: struct psinfo" */ ;
typedef struct psinfo psinfo_t;
struct /* ERROR D_DECL_TYPERED "type redeclared: struct psinfo" */ psinfo { int x; };
int bufinfo_t /* ERROR D_DECL_IDRED "identifier redeclared: bufinfo_t is a type" */ ;
inline int ok = 5;
inline /* ERROR D_DECL_IDRED "identifier redeclared: ok is an inline" */ int ok = 6;
inline /* ERROR D_DECL_IDRED "identifier redeclared: once is a variable" */ int once = 6;
int ok /* ERROR D_DECL_IDRED "identifier redeclared: ok is an inline" */ ;
inline int rec = rec /* ERROR D_IDENT_UNDEF "failed to resolve rec: an inline may not use itself" */ + 1;
inline int recf[int n] = n ? recf[ /* ERROR D_IDENT_UNDEF "failed to resolve recf: an inline may not use itself" */ n - 1] : 0;
BEGIN { trace(rec); trace(recf[1]); }
inline int once2 = once;
BEGIN { once2 = /* ERROR D_OP_LVAL "operator = requires modifiable lvalue" */ 1; }
this int la;
self long as[int];
self int as /* ERROR D_DECL_IDRED "identifier redeclared: self->as" */ [int];

this int lassoc /* ERROR D_DECL_LOCASSC "cannot declare associative array as local variable: lassoc" */ [int];
struct /* ERROR D_DECL_SCOPE "scoping operator may not be used in a declaration: mod`b" */ mod`b { int x; };
struct c1 { int f /* ERROR D_DECL_BADCLASS "member may not be a function: f" */ (int); };
struct c2 { int a /* ERROR D_DECL_ARRNULL "array declaration requires array dimension" */ []; };

BEGIN { this int l; this->l = 1; this->l = /* ERROR D_OP_INCOMPAT "incompatible types" */ "x"; }

struct out { int a; string s; };
translator struct out < int X > { a = X; s = "x"; };
translator /* ERROR D_XLATE_REDECL "translator from int to struct out has already been declared" */ struct out < int X > { a = X; };

inline int fi[enum /* ERROR D_DECL_INCOMPLETE "incomplete struct/union/enum enum nosuch: v" */ nosuch v] = (int)v;
inline /* ERROR D_DECL_INCOMPLETE "incomplete struct/union/enum struct nosuch: fj" */ struct nosuch fj = 1;
int keyed /* ERROR D_DECL_INCOMPLETE "enum nosuch: keyed" */ [enum nosuch];
struct c3 { struct nosuch e /* ERROR D_DECL_INCOMPLETE "struct nosuch: e" */ [2]; };
enum nosuch es /* ERROR D_DECL_INCOMPLETE "enum nosuch: es" */ [2];
translator /* ERROR D_DECL_INCOMPLETE "enum nosuch: E" */ struct out < enum nosuch E > { a = (int)E; };
BEGIN { trace((/* ERROR D_DECL_INCOMPLETE "incomplete struct/union/enum enum nosuch" */ enum nosuch)7); }
BEGIN { trace(* /* ERROR D_DECL_INCOMPLETE "incomplete struct/union/enum enum nosuch" */ (enum nosuch *)arg0); }
