struct s { int a; int bits : 3; char name[8]; struct s *next; };
struct s g;
struct t { int b; };
struct t h;
string str;
int i;
long l;
int *ip;
char *cp;
void *vp;
int arr[4];
int assoc[int];

BEGIN
{
	trace(1 / /* ERROR D_DIV_ZERO "expression contains division by zero" */ 0);
	trace(i % /* ERROR D_DIV_ZERO "division by zero" */ 0);
	i /= /* ERROR D_DIV_ZERO "division by zero" */ 0;
	trace(l / /* ERROR D_DIV_ZERO "division by zero" */ (1 - 1));
	trace("a" + /* ERROR D_OP_INCOMPAT "operands have incompatible types: .string. \+ .int." */ 1);
	trace(str - /* ERROR D_OP_INCOMPAT "incompatible types: .string. - .string." */ str);
	trace(ip + /* ERROR D_OP_INCOMPAT "incompatible types: .int \*. \+ .int \*." */ ip);
	trace(1 - /* ERROR D_OP_INCOMPAT "incompatible types: .int. - .int \*." */ ip);
	trace(ip - /* ERROR D_OP_INCOMPAT "incompatible types: .int \*. - .char \*." */ cp);
	trace(vp + /* ERROR D_OP_INCOMPAT "incompatible types: .void \*. \+ .int." */ 1);
	trace(g + /* ERROR D_OP_INCOMPAT "incompatible types: .struct s. \+ .int." */ 1);
	trace("a" * /* ERROR D_OP_ARITH "operator \* requires operands of arithmetic type" */ 2);
	trace(ip / /* ERROR D_OP_ARITH "operator / requires operands of arithmetic type" */ 2);
	trace(ip % /* ERROR D_OP_INT "operator % requires operands of integral type" */ 2);
	trace(str & /* ERROR D_OP_INT "operator & requires operands of integral type" */ 1);
	trace(1 | /* ERROR D_OP_INT "operator \| requires operands of integral type" */ ip);
	trace(g ^ /* ERROR D_OP_INT "operator \^ requires operands of integral type" */ 1);
	trace(1 << /* ERROR D_OP_INT "operator << requires operands of integral type" */ str);
	trace(ip >> /* ERROR D_OP_INT "operator >> requires operands of integral type" */ 1);
	trace(~ /* ERROR D_OP_INT "operator ~ requires an operand of integral type" */ ip);
	trace(- /* ERROR D_OP_ARITH "operator - requires an operand of arithmetic type" */ str);
	trace(+ /* ERROR D_OP_ARITH "operator \+ requires an operand of arithmetic type" */ ip);
	trace(! /* ERROR D_OP_SCALAR "operator ! requires an operand of scalar type" */ str);
	trace(! /* ERROR D_OP_SCALAR "operator ! requires an operand of scalar type" */ g);
	trace(str && /* ERROR D_OP_SCALAR "operator && requires operands of scalar type" */ 1);
	trace(1 || /* ERROR D_OP_SCALAR "operator \|\| requires operands of scalar type" */ str);
	trace(g ^^ /* ERROR D_OP_SCALAR "operator \^\^ requires operands of scalar type" */ 1);
	trace(str == /* ERROR D_OP_INCOMPAT "incompatible types: .string. == .int." */ 1);
	trace(str < /* ERROR D_OP_INCOMPAT "incompatible types: .string. < .int \*." */ ip);
	trace(g == /* ERROR D_OP_INCOMPAT "incompatible types: .struct s. == .struct s." */ g);
	trace(ip == /* ERROR D_OP_INCOMPAT "incompatible types: .int \*. == .long \*." */ (long *)0);
	trace(i ? /* ERROR D_OP_INCOMPAT "operator \?: operands must have compatible types" */ 1 : "x");
	trace(i ? /* ERROR D_OP_INCOMPAT "operator \?: operands must have compatible types" */ g : h);
	trace(str /* ERROR D_OP_SCALAR "operator \?: expression must be of scalar type" */ ? 1 : 2);
	trace(i ? /* ERROR D_OP_INCOMPAT "operator \?:" */ ip : (long *)0);
	i = /* ERROR D_OP_INCOMPAT "operands have incompatible types: .int. = .string." */ "x";
	str = /* ERROR D_OP_INCOMPAT "incompatible types: .string. = .int." */ 5;
	i = /* ERROR D_OP_INCOMPAT "incompatible types: .int. = .struct s." */ g;
	g = /* ERROR D_OP_INCOMPAT "incompatible types: .struct s. = .struct t." */ h;
	g = /* ERROR D_OP_INCOMPAT "incompatible types: .struct s. = .int." */ 0;
	i = /* ERROR D_OP_INCOMPAT "incompatible types: .int. = .int \*." */ ip;
	ip = /* ERROR D_OP_INCOMPAT "incompatible types: .int \*. = .long \*." */ (long *)0;
	arr = /* ERROR D_OP_ARRFUN "operator = may not be applied to operand of type .int \[4\]." */ arr;
	x = /* ERROR D_OP_ARRFUN "operator = may not be applied to operand of type .int \[4\]." */ arr;
	x = /* ERROR D_OP_INCOMPAT "incompatible types" */ stack();
	x = /* ERROR D_OP_INCOMPAT "incompatible types" */ sym(l);
	i += /* ERROR D_OP_INCOMPAT "incompatible types: .int. \+= .string." */ str;
	str += /* ERROR D_OP_INCOMPAT "incompatible types: .string. \+= .int." */ 1;
	vp += /* ERROR D_OP_VFPTR "operator \+= requires left-hand scalar operand of known size" */ 1;
	ip += /* ERROR D_OP_INCOMPAT "incompatible types: .int \*. \+= .int \*." */ ip;
	i *= /* ERROR D_OP_ARITH "operator \*= requires operands of arithmetic type" */ ip;
	str /= /* ERROR D_OP_ARITH "operator /= requires operands of arithmetic type" */ 2;
	ip %= /* ERROR D_OP_INT "operator %= requires operands of integral type" */ 2;
	i &= /* ERROR D_OP_INT "operator &= requires operands of integral type" */ str;
	i |= /* ERROR D_OP_INT "operator \|= requires operands of integral type" */ ip;
	str ^= /* ERROR D_OP_INT "operator \^= requires operands of integral type" */ 1;
	ip <<= /* ERROR D_OP_INT "operator <<= requires operands of integral type" */ 1;
	i >>= /* ERROR D_OP_INT "operator >>= requires operands of integral type" */ str;
	str++ /* ERROR D_OP_SCALAR "operator \+\+ requires operand of scalar type" */;
	-- /* ERROR D_OP_SCALAR "operator -- requires operand of scalar type" */ g;
	vp++ /* ERROR D_OP_VFPTR "operator \+\+ requires an operand of known size" */;
	trace(* /* ERROR D_DEREF_NONPTR "cannot dereference non-pointer type" */ i);
	trace(* /* ERROR D_DEREF_VOID "cannot dereference pointer to void" */ vp);
	trace(* /* ERROR D_DEREF_FUNC "cannot dereference pointer to function" */ &`vfs_read);
	trace(* /* ERROR D_DEREF_NONPTR "cannot dereference" */ str);
	trace(& /* ERROR D_ADDROF_VAR "cannot take address of dynamic variable" */ i);
	trace(& /* ERROR D_ADDROF_VAR "cannot take address of dynamic variable" */ assoc[1]);
	trace(& /* ERROR D_ADDROF_LVAL "unacceptable operand for unary & operator" */ 5);
	trace(& /* ERROR D_ADDROF_LVAL "unacceptable operand for unary & operator" */ (i + 1));
	trace(& /* ERROR D_ADDROF_BITFIELD "cannot take address of bit-field" */ g.bits);
	trace(i. /* ERROR D_OP_SOU "operator . cannot be applied to type .int.; must be applied to a struct or union" */ a);
	trace(i-> /* ERROR D_OP_PTR "operator -> must be applied to a pointer" */ a);
	trace(g-> /* ERROR D_OP_PTR "operator -> must be applied to a pointer" */ a);
	trace(ip-> /* ERROR D_OP_SOU "operator -> cannot be applied to pointer to type .int." */ a);
	trace(g. /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct s" */ nosuch);
	trace(g.next-> /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct s" */ nosuch);
	trace(((struct nowhere *)0)-> /* ERROR D_OP_INCOMPLETE "no struct nowhere definition is available" */ x);
	trace(i[ /* ERROR D_DEREF_NONPTR "cannot dereference non-pointer type" */ 0]);
	trace(arr[ /* ERROR D_ARR_BADREF "cannot access int \[4\] as an associative array" */ 1, 2]);
	trace(assoc /* ERROR D_IDENT_BADREF "array 'assoc' may not be referenced as scalar" */ );
	assoc /* ERROR D_IDENT_BADREF "array 'assoc' may not be referenced as scalar" */ = 1;
	trace(( /* ERROR D_CAST_INVAL "invalid cast expression: .struct s. to .int." */ int)g);
	trace(( /* ERROR D_CAST_INVAL "invalid cast expression: .int. to .struct s." */ struct s)i);
	trace(( /* ERROR D_CAST_INVAL "invalid cast expression: .struct t. to .struct s." */ struct s)h);
	trace(( /* ERROR D_CAST_INVAL "invalid cast expression: .string. to .int." */ int)str);
	trace(( /* ERROR D_CAST_INVAL "invalid cast expression: .struct s. to .string." */ string)g);
	trace(sizeof /* ERROR D_SIZEOF_TYPE "cannot apply sizeof to an operand of unknown size" */ (void));
	trace(sizeof /* ERROR D_SIZEOF_TYPE "operand of unknown size" */ (struct nowhere));
	trace(sizeof /* ERROR D_SIZEOF_BITFIELD "cannot apply sizeof to a bit-field" */ (g.bits));
	trace(offsetof /* ERROR D_OFFSETOF_TYPE "offsetof operand must be of type struct or union" */ (int, a));
	trace(offsetof /* ERROR D_OFFSETOF_TYPE "must be of type struct or union" */ (struct nowhere, a));
	trace(offsetof /* ERROR D_TYPE_MEMBER "x is not a member of struct s" */ (struct s, x));
	trace(offsetof /* ERROR D_OFFSETOF_BITFIELD "cannot take offset of a bit-field: bits" */ (struct s, bits));
	trace(stringof /* ERROR D_STRINGOF_TYPE "cannot apply stringof to a value of type struct s" */ (g));
	(trace(1), /* ERROR D_OP_ACT "operator , operands cannot be actions" */ 1);
	trace((@a, /* ERROR D_OP_DYN "operator , operands cannot be of dynamic type" */ 1));
	trace(@a /* ERROR D_OP_DYN "aggregation @a may not be used as a value" */ + 1);
	x3 = @a /* ERROR D_OP_DYN "aggregation @a may not be used as a value" */ ;
	g.a = h = /* ERROR D_OP_INCOMPAT "incompatible types: .struct t. = .int." */ 5;
	*(int *)5 = /* ERROR D_OP_WRITE "operator = can only be applied to a writable variable" */ 1;
	curthread->pid = /* ERROR D_OP_WRITE "operator = can only be applied to a writable variable" */ 1;
	curthread->pid++ /* ERROR D_OP_WRITE "operator \+\+ can only be applied to a writable variable" */;
	curthread->flags |= /* ERROR D_OP_WRITE "operator \|= can only be applied to a writable variable" */ 1;
	if (str /* ERROR D_OP_SCALAR "condition of if must be of scalar type" */ ) { trace(1); }
	if (i) { trace(nowhere /* ERROR D_IDENT_UNDEF "nowhere" */ ); } else {
		trace(nobody /* ERROR D_IDENT_UNDEF "nobody" */ ); }
}

BEGIN /str /* ERROR D_PRED_SCALAR "predicate result must be of scalar type" */ / { }
BEGIN /g /* ERROR D_PRED_SCALAR "predicate result must be of scalar type" */ / { }

enum color { RED, GREEN };
int PIDTYPE_PID;
BEGIN
{
	this->c = RED;
	trace(this->c == RED);
	trace((enum pid_type)1 == /* ERROR D_IDENT_AMBIG "ambiguous use of operator ==: PIDTYPE_PID is both a enum pid_type enum tag and a global variable" */ PIDTYPE_PID);
	trace((enum pid_type)1 == PIDTYPE_TGID);
	this->c = /* ERROR D_OP_INCOMPAT "incompatible types: .enum color. = .string." */ "x";
	trace(this->c == /* ERROR D_OP_INCOMPAT "incompatible types: .enum color. == .string." */ "RED");
}
