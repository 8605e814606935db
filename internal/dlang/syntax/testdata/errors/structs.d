/* Structures, unions and enumerations. */
struct /* the tag or a brace must follow */ ; /* ERROR D_SYNTAX "near ";"" */
struct s { int; /* ERROR D_DECL_MNAME "member declaration requires a name" */ };
struct s { struct t; /* ERROR D_DECL_MNAME "member declaration requires a name" */ };
struct s { int a b /* ERROR D_SYNTAX "near "b": ";" expected" */; };
struct s { int a } /* ERROR D_SYNTAX "near "}": ";" expected" */;
struct s { int a : ; /* ERROR D_SYNTAX "near ";"" */ };
struct s { int x`y /* ERROR D_DECL_SCOPE "D scoping operator may not be used in a member name \(x`y\)" */; };
struct s { self /* ERROR D_SYNTAX "near "self"" */ int a; };
struct s { const /* ERROR D_SYNTAX "near "static"" */ static int a; };
struct s { 5 /* ERROR D_SYNTAX "near "5"" */; };
struct s { int a; } b /* a variable */ c /* ERROR D_SYNTAX "near "c"" */;
struct s { int a; } { /* ERROR D_SYNTAX "near "{"" */ };
union u { struct { int x; } y, ; /* ERROR D_SYNTAX "near ";"" */ };
enum { } /* ERROR D_SYNTAX "near "}"" */;
enum e { A B /* ERROR D_SYNTAX "near "B": "}" expected" */ };
enum e { A = } /* ERROR D_SYNTAX "near "}"" */;
enum e { 5 /* ERROR D_SYNTAX "near "5"" */ };
enum e { A, , /* ERROR D_SYNTAX "near ","" */ B };
enum ; /* ERROR D_SYNTAX "near ";"" */
typedef /* ERROR D_DECL_USELESS "useless declaration" */ int;
struct fine { int a; };
