/* Inlines, translators and providers. */
inline int x; /* ERROR D_SYNTAX "near ";": "=" expected" */
inline int x = ; /* ERROR D_SYNTAX "near ";"" */
inline int x = 1, /* ERROR D_SYNTAX "near ",": ";" expected" */ 2;
inline = /* ERROR D_SYNTAX "near "="" */ 1;
inline int f[int /* ERROR D_DECL_PROTO_NAME "parameter declaration requires a name: parameter #1" */] = 1;
inline int f[int a, int /* ERROR D_DECL_PROTO_FORM "parameter is already declared in inline prototype: a, parameter #2" */ a] = 1;
inline int x`y /* ERROR D_DECL_SCOPE "may not be used in a declaration name" */ = 1;
inline self /* ERROR D_DECL_BADCLASS "specified storage class not appropriate in D" */ int x = 1;
translator /* a type must follow */ < /* ERROR D_SYNTAX "near "<"" */ struct s *p > { };
translator out_t < struct s * > /* ERROR D_SYNTAX "near ">"" */ { };
translator out_t struct /* ERROR D_DECL_COMBO "invalid type combination" */ s *p { };
translator out_t < struct s *p > { a = 1 } /* ERROR D_SYNTAX "near "}": ";" expected" */;
translator out_t < struct s *p > { a; /* ERROR D_SYNTAX "near ";": "=" expected" */ };
translator out_t < struct s *p > { 5 /* ERROR D_SYNTAX "near "5"" */ = 1; };
translator out_t < struct s *p > { a = ; /* ERROR D_SYNTAX "near ";"" */ b = 1; };
translator out_t < struct s *p > { a = 1; }
translator /* ERROR D_SYNTAX "near "translator": ";" expected" */ out_t < struct s *p > { a = 1; };
provider { /* ERROR D_SYNTAX "near "{"" */ };
provider p { x /* ERROR D_SYNTAX "near "x": "}" expected" */ };
provider p { probe x; /* ERROR D_SYNTAX "near ";": "\(" expected" */ };
provider p { probe x(int) } /* ERROR D_SYNTAX "near "}": ";" expected" */;
provider p { probe x(int) : int /* ERROR D_SYNTAX "near "int": "\(" expected" */; };
provider p { };
BEGIN { x = fine; }
