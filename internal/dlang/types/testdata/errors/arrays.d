int a[int, string];
string names[int];
self int t[int];

BEGIN
{
	a[1, "x"] = 1;
	a[ /* ERROR D_PROTO_LEN "a\[ \] prototype mismatch: 1 arg passed, 2 expected" */ 1] = 1;
	a[ /* ERROR D_PROTO_LEN "a\[ \] prototype mismatch: 3 args passed, 2 expected" */ 1, "x", 2] = 1;
	a["x" /* ERROR D_PROTO_ARG "a\[ \] argument #1 is incompatible with prototype:\n\tprototype: int\n\t argument: string" */ , "x"] = 1;
	a[1, 2 /* ERROR D_PROTO_ARG "a\[ \] argument #2 is incompatible with prototype" */ ] = 1;
	names[1] = /* ERROR D_OP_INCOMPAT "incompatible types: .string. = .int." */ 5;
	self->t["x" /* ERROR D_PROTO_ARG "self->t\[ \] argument #1" */ ] = 1;
	b[1] = 5;
	b["x" /* ERROR D_PROTO_ARG "b\[ \] argument #1" */ ] = 5;
	b[1] = /* ERROR D_OP_INCOMPAT "incompatible types: .int. = .string." */ "x";
	this /* ERROR D_ARR_LOCAL "local variables may not be used as associative arrays: l" */ ->l[1] = 5;
	c[@x /* ERROR D_OP_DYN "aggregation @x may not be used as a value" */ ] = 1;
	d[(void)0 /* ERROR D_KEY_TYPE "void expression may not be used as array index: key #1" */ ] = 1;
	trace(a[1, "x"]);
	trace(args[ /* ERROR D_ARGS_IDX "index 0 is out of range for BEGIN args\[ \]" */ 0]);
	trace(regs[ /* ERROR D_REGS_IDX "regs\[ \] may not be used here" */ R_RAX]);
	trace(errno /* ERROR D_IDENT_UNDEF "only a probe at which a system call returns has it" */ );
}

args
{
	trace(args[0]);
	trace(args[1][0]);
	trace(args[3] + 1);
	trace(args[ /* ERROR D_ARGS_IDX "index 4 is out of range for args args\[ \]" */ 4]);
	trace(args[ /* ERROR D_ARGS_IDX "index -1 is out of range" */ -1]);
	trace(args[ /* ERROR D_ARGS_TYPE "failed to resolve translated type for args\[2\]" */ 2]);
	trace(args[pid /* ERROR D_PROTO_ARG "args\[ \] argument #1 is incompatible with prototype:\n\tprototype: integer constant\n\t argument: pid_t" */ ]);
	trace(args[ /* ERROR D_PROTO_LEN "args\[ \] prototype mismatch: 2 args passed, 1 expected" */ 0, 1]);
	args[0] = /* ERROR D_OP_LVAL "operator =" */ 1;
}

regs
{
	trace(regs[R_RAX] + regs[R_RIP]);
	trace(uregs[R_RSP]);
	trace(regs[R_FOO /* ERROR D_IDENT_UNDEF "failed to resolve R_FOO: there is no such register; there are R_" */ ]);
	trace(regs[ /* ERROR D_REGS_IDX "R_GS: " */ R_GS]);
	trace(regs[ /* ERROR D_REGS_IDX "R_TRAPNO: " */ R_TRAPNO]);
	trace(regs[ /* ERROR D_REGS_IDX "index 1000 is out of range for array regs" */ 1000]);
	trace(regs[ /* ERROR D_REGS_IDX "index -1 is out of range for array regs" */ -1]);
	trace(uregs[ /* ERROR D_REGS_IDX "index 1000 is out of range for array uregs" */ 1000]);
	trace(regs[pid /* ERROR D_PROTO_ARG "regs\[ \] argument #1 is incompatible with prototype:\n\tprototype: integer constant" */ ]);
	trace(regs[ /* ERROR D_PROTO_LEN "regs\[ \] prototype mismatch: 2 args passed, 1 expected" */ R_RAX, R_RBX]);
	regs[R_RAX] = /* ERROR D_OP_LVAL "operator =" */ 1;
	trace(R_RAX);
}

return { trace(errno); }

both
{
	trace(1);
	trace(regs[ /* ERROR D_REGS_IDX "regs\[ \] may not be used here" */ R_RAX]);
}

inline int outside = args[ /* ERROR D_ARGS_NONE "args\[ \] may not be referenced outside of a probe clause" */ 0];
inline int two[int x, string s] = x;
inline int bad[int x] = x + /* ERROR D_OP_INCOMPAT "incompatible types" */ "s";

BEGIN
{
	trace(two[ /* ERROR D_PROTO_LEN "two\[ \] prototype mismatch: 1 arg passed, 2 expected" */ 1]);
	trace(two[1, 2 /* ERROR D_PROTO_ARG "two\[ \] argument #2" */ ]);
	trace(two[1, "x"]);
}

/* An error in the use of an inline is where it is used. */
inline string named = "x";
inline int sum2[int x, int y] = x + y;

BEGIN
{
	a[named /* ERROR D_PROTO_ARG "a\[ \] argument #1" */ , "x"] = 1;
	trace(sum2[named /* ERROR D_PROTO_ARG "sum2\[ \] argument #1" */ , 1]);
	trace(sum2[sum2[1, named /* ERROR D_PROTO_ARG "sum2\[ \] argument #2" */ ], 1]);
	@keyed[1] = count();
	@keyed[named /* ERROR D_PROTO_ARG "@keyed\[ \] argument #1" */ ] = count();
	printf("%d", named /* ERROR D_PRINTF_ARG_TYPE "printf\( \) argument #2 is incompatible" */ );
	printf("%s", ppid /* ERROR D_PRINTF_ARG_TYPE "printf\( \) argument #2 is incompatible" */ );
	printf("%*d", named /* ERROR D_PRINTF_DYN_TYPE "printf\( \) argument #2" */ , 1);
}

/* What is outside of an array of the kernel may be there all the same. */
struct vector { int v[3]; int last[1]; };
struct vector one;
struct vector many[int];
self struct vector mine;
int matrix[2][3];

BEGIN
{
	trace(one.v[ /* ERROR D_ARR_BOUNDS "index 3 is outside of the array: its type is int \[3\]" */ 3]);
	one.last[ /* ERROR D_ARR_BOUNDS "index 1 is outside of the array: its type is int \[1\]" */ 1] = 1;
	trace(* /* ERROR D_ARR_BOUNDS "index 4 is outside of the array" */ (one.v + 4));
	trace(one.v[ /* ERROR D_ARR_BOUNDS "index -1 is outside of the array" */ -1]);
	many[1].v[ /* ERROR D_ARR_BOUNDS "index 1000000000000 is outside of the array" */ 1000000000000] = 1;
	trace(self->mine.v[ /* ERROR D_ARR_BOUNDS "index 3 is outside of the array" */ 3]);
	trace(matrix[ /* ERROR D_ARR_BOUNDS "index 2 is outside of the array" */ 2][0]);
	trace(matrix[1][ /* ERROR D_ARR_BOUNDS "index 3 is outside of the array" */ 3]);
	this->i = 1;
	trace(matrix[this->i][ /* ERROR D_ARR_BOUNDS "index 3 is outside of the array" */ 3]);
	trace(one.v[2] + one.v[0] + one.last[0] + matrix[1][2] + *one.v + *(one.v + 1));
	trace(((struct vector *)arg0)->v[3] + ((struct vector *)arg0)->last[7] + ((struct vector *)arg0)->v[-1]);
	trace(((struct vector *)&one)->v[3] + (&one.v[0])[3]);
	trace(curthread->comm[16]);
}
