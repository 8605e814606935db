/* Expressions that do not parse; each statement has one error. */
BEGIN
{
	x = ; /* ERROR D_SYNTAX "^syntax error near ";"$" */
	x = 1 + ; /* ERROR D_SYNTAX "syntax error near ";"" */
	x = (1 + 2; /* ERROR D_SYNTAX "near ";": "\)" expected" */
	x = 1 + * /* fine so far: a dereference */ ; /* ERROR D_SYNTAX "near ";"" */
	x = y z /* ERROR D_SYNTAX "near "z": ";" expected" */;
	x = 1 2 /* ERROR D_SYNTAX "near "2"" */;
	x = "a" 1 /* ERROR D_SYNTAX "near "1"" */;
	x = a[ ] /* ERROR D_SYNTAX "near "\]"" */;
	x = a[1; /* ERROR D_SYNTAX "near ";": "\]" expected" */
	x = a[1,] /* ERROR D_SYNTAX "near "\]"" */;
	f(1,) /* ERROR D_SYNTAX "near "\)"" */;
	f(, /* ERROR D_SYNTAX "near ","" */ 1);
	f(1; /* ERROR D_SYNTAX "near ";": "\)" expected" */
	f(1)) /* ERROR D_SYNTAX "extra \) in input stream" */;
	a[1]] /* ERROR D_SYNTAX "extra \] in input stream" */;
	x = a.; /* ERROR D_SYNTAX "near ";"" */
	x = a->; /* ERROR D_SYNTAX "near ";"" */
	x = a->5 /* ERROR D_SYNTAX "near "5"" */;
	x = this->; /* ERROR D_SYNTAX "near ";"" */
	x = ? /* ERROR D_SYNTAX "near "\?"" */ 1 : 2;
	x = a ? : /* ERROR D_SYNTAX "near ":"" */ 2;
	x = a ? 1; /* ERROR D_SYNTAX "near ";": ":" expected" */
	x = a ? 1 : ; /* ERROR D_SYNTAX "near ";"" */
	a + b = /* ERROR D_SYNTAX "near "="" */ 1;
	a ? b : c = /* ERROR D_SYNTAX "near "="" */ 1;
	(int)a = /* ERROR D_SYNTAX "near "="" */ 1;
	a && b += /* ERROR D_SYNTAX "near "\+="" */ 1;
	= /* ERROR D_SYNTAX "near "="" */ 1;
	x = a == ; /* ERROR D_SYNTAX "near ";"" */
	x = a ! /* ERROR D_SYNTAX "near "!": ";" expected" */ b;
	x = a ~ /* ERROR D_SYNTAX "near "~"" */ b;
	x = a => /* ERROR D_SYNTAX "near ">"" */ b;
	x = a <> /* ERROR D_SYNTAX "near ">"" */ b;
	x = a <<< /* ERROR D_SYNTAX "near "<"" */ b;
	x = a ^^ ; /* ERROR D_SYNTAX "near ";"" */
	x = a ... /* ERROR D_SYNTAX "near "\.\.\."" */;
	x = sizeof ; /* ERROR D_SYNTAX "near ";"" */
	x = sizeof (int; /* ERROR D_SYNTAX "near ";": "\)" expected" */
	x = sizeof (struct) /* ERROR D_SYNTAX "near "\)"" */;
	x = stringof ; /* ERROR D_SYNTAX "near ";"" */
	x = offsetof(struct s) /* ERROR D_SYNTAX "near "\)": "," expected" */;
	x = offsetof(struct s, 3) /* ERROR D_SYNTAX "near "3"" */;
	x = xlate( /* ERROR D_SYNTAX "near "\(": "<" expected" */ a);
	x = xlate <struct s>a /* ERROR D_SYNTAX "near "a": "\(" expected" */;
	x = (struct s *); /* ERROR D_SYNTAX "near ";"" */
	x = (unsigned int)) /* ERROR D_SYNTAX "extra \)" */;
	x = int /* ERROR D_SYNTAX "near "int"" */;
	x = struct /* ERROR D_SYNTAX "near "struct"" */ s;
	(f)(1) /* a cast of 1 to the type f, as in libdtrace */;
	a[1](2) /* ERROR D_FUNC_IDENT "function designator is not of function type" */;
	a->b(2) /* ERROR D_FUNC_IDENT "function designator" */;
	vmlinux`f(2) /* ERROR D_FUNC_UNDEF "undefined function name: vmlinux`f" */;
	tick-1() /* ERROR D_FUNC_IDENT "function designator" */;
	f(1)(2) /* ERROR D_FUNC_IDENT "function designator" */;
	x = vmlinux` /* ERROR D_SYNTAX "near "vmlinux`"" */;
	x = 1.5 /* ERROR D_SYNTAX "floating-point constants are not permitted" */;
	x = 1e9 /* ERROR D_SYNTAX "floating-point constants are not permitted" */;
	x = .5f /* ERROR D_SYNTAX "floating-point constants are not permitted" */;
	x = 1. /* ERROR D_SYNTAX "floating-point constants are not permitted" */;
	for /* ERROR D_SYNTAX "near "for"" */ (i = 0; i < 10; i++) ;
	while /* ERROR D_SYNTAX "near "while"" */ (1) ;
	return /* ERROR D_SYNTAX "near "return"" */;
	goto /* ERROR D_SYNTAX "near "goto"" */ out;
	break /* ERROR D_SYNTAX "near "break"" */;
	x = # /* ERROR D_SYNTAX "near "#"" */ 1;
	x = a \ /* ERROR D_SYNTAX "near "\\"" */ b;
	x = é /* ERROR D_SYNTAX "near "é"" */;
	{ /* ERROR D_SYNTAX "near "{"" */ x = 1; }
	else /* ERROR D_SYNTAX "near "else"" */ x = 2;
	ok = 1;
}
