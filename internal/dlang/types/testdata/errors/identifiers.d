int known;
inline int konst = 5;
inline int add[int a, int b] = a + b;

BEGIN
{
	trace(x /* ERROR D_IDENT_UNDEF "failed to resolve x: Unknown variable name" */);
	trace(self /* ERROR D_VAR_UNDEF "self->x has not yet been declared or assigned" */ ->x);
	trace(this /* ERROR D_VAR_UNDEF "this->x has not yet been declared or assigned" */ ->x);
	y = z /* ERROR D_IDENT_UNDEF "failed to resolve z" */;
	trace(known + unknown /* ERROR D_IDENT_UNDEF "failed to resolve unknown" */);
	trace(zonename /* ERROR D_IDENT_UNDEF "failed to resolve zonename: Linux has no zones" */);
	trace(jid /* ERROR D_IDENT_UNDEF "Linux has no jails" */);
	trace(jailname /* ERROR D_IDENT_UNDEF "Linux has no jails" */);
	trace(curproc /* ERROR D_IDENT_UNDEF "use execname and curthread" */);
	trace(vmregs /* ERROR D_IDENT_UNDEF "vmregs" */);
	trace(count /* ERROR D_IDENT_BADREF "aggregating function 'count' may not be referenced as scalar" */);
	trace(strlen /* ERROR D_IDENT_BADREF "subroutine 'strlen' may not be referenced as scalar" */);
	trace(printf /* ERROR D_IDENT_BADREF "action 'printf' may not be referenced as scalar" */);
	trace(args /* ERROR D_IDENT_BADREF "array 'args' may not be referenced as scalar" */);
	trace(regs /* ERROR D_IDENT_BADREF "array 'regs' may not be referenced as scalar" */);
	trace(add /* ERROR D_IDENT_BADREF "array 'add' may not be referenced as scalar" */);
	trace(nosuch /* ERROR D_FUNC_UNDEF "undefined function name: nosuch" */(1));
	trace(known /* ERROR D_FUNC_IDKIND "identifier 'known' is not a function" */(1));
	trace(konst /* ERROR D_FUNC_IDKIND "identifier 'konst' is not a function" */());
	trace(exit /* ERROR D_CG_EXPR "exit\( \) may not be called from a D expression" */(1));
	x2 = printf /* ERROR D_CG_EXPR "D program context required" */("x");
	trace(count /* ERROR D_AGG_FUNC "count\( \) may only be assigned to an aggregation" */());
	count /* ERROR D_AGG_FUNC "count\( \) may only be assigned to an aggregation" */();
	konst = /* ERROR D_OP_LVAL "operator = requires modifiable lvalue" */ 6;
	pid = /* ERROR D_OP_LVAL "operator = requires modifiable lvalue" */ 6;
	5 = /* ERROR D_OP_LVAL "operator = requires modifiable lvalue" */ 6;
	known++ ++ /* ERROR D_OP_LVAL "operator \+\+ requires modifiable lvalue" */;
	execname = /* ERROR D_OP_LVAL "operator =" */ "x";
	unset += /* ERROR D_VAR_UNDEF "unset has not yet been declared or assigned" */ 1;
	self->unset -= /* ERROR D_VAR_UNDEF "self->unset has not yet been declared or assigned" */ 1;
	this->unset <<= /* ERROR D_VAR_UNDEF "this->unset" */ 1;
	trace(noarray /* ERROR NEXT D_VAR_UNDEF "noarray has not yet been declared or assigned" */
	    [1]);
	trace(self->noarray[ /* ERROR D_VAR_UNDEF "self->noarray has not yet been declared or assigned" */ 1]);
	trace(last /* ERROR D_IDENT_UNDEF "failed to resolve last" */ );
}

BEGIN /nothing /* ERROR D_IDENT_UNDEF "failed to resolve nothing" */ == 1/ { trace(1); }

BEGIN
{
	trace(`vfs_write /* ERROR D_IDENT_UNDEF "there is no such symbol" */ );
	trace(ext4`x /* ERROR D_IDENT_UNDEF "failed to resolve ext4`x" */ );
	trace(`jiffies /* ERROR D_SYM_NOTYPES "no symbolic type information is available for jiffies" */ );
	trace(`jiffies /* ERROR D_SYM_NOTYPES "use .\(type .\)&`jiffies" */ + 1);
	trace(*(int *)&`jiffies);
	trace(RED /* ERROR D_IDENT_UNDEF "failed to resolve RED" */ );
	trace(R_FOO /* ERROR D_IDENT_UNDEF "failed to resolve R_FOO" */ );
}
