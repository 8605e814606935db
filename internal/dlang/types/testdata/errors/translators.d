struct out { int a; string s; char *p; };
translator struct out < int X > { a = X; s = "x"; };
translator /* ERROR D_XLATE_REDECL "translator from int to struct out has already been declared" */ struct out < int Y > { a = Y; };
translator /* ERROR D_XLATE_SOU "translator output type must be a struct or union" */ int < int X > { a = X; };
translator /* ERROR D_XLATE_SOU "incomplete struct/union/enum struct nowhere" */ struct nowhere < int X > { a = X; };
translator struct out < long X > {
	b /* ERROR D_XLATE_MEMB "translator member b is not a member of struct out" */ = X;
	a /* ERROR D_XLATE_INCOMPAT "translator member a definition uses incompatible types: .int. = .string." */ = "x";
	s /* ERROR D_XLATE_INCOMPAT "translator member s definition uses incompatible types: .string. = .long." */ = X;
	p = Y /* ERROR D_IDENT_UNDEF "failed to resolve Y" */ ;
};
translator struct out < char X > {
	a = X;
	a /* ERROR D_XLATE_MEMB "translator member a has already been defined" */ = X + 1;
	s = "c";
};
BEGIN { trace(xlate <struct out> ((long)5).s); trace(xlate <struct out> ((char)5).s); }

/* What the program defines is nothing to the library. */
inline string PIDTYPE_PGID = "x";
enum { PIDTYPE_SID = 5 };
struct task_struct { int here; };
struct signal_struct { int here; };
BEGIN
{
	trace(curpsinfo->pr_pgid + curpsinfo->pr_sid + curpsinfo->pr_nlwp + ((struct task_struct *)arg0)->here);
	trace(strlen(PIDTYPE_PGID) + PIDTYPE_SID);
}

BEGIN
{
	trace(xlate <struct out> (5).a);
	trace(xlate <struct out *> (5)->s);
	trace(xlate <struct out> (5). /* ERROR D_XLATE_NOCONV "translator does not define conversion for member: p" */ p);
	trace(xlate <struct out> (5). /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct out" */ nosuch);
	trace(xlate /* ERROR D_XLATE_NONE "cannot translate from .string. to .struct out." */ <struct out> ("x"));
	trace(xlate /* ERROR D_OP_DYN "can only be used through its members" */ <struct out *> (5));
	trace(& /* ERROR D_ADDROF_VAR "cannot take address of dynamic object" */ xlate <struct out> (5));
	this->s = xlate <struct out> (5);
	trace(this->s.a);
	trace(curpsinfo->pr_pid);
	trace(curpsinfo-> /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct psinfo" */ nosuch);
	curcpu;
	print(*curcpu);
	trace((*curcpu).cpu_id + sizeof (curcpu));
	trace(!curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ );
	trace(curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ ? 1 : 2);
	trace((1, curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ ));
	trace(curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ && 1);
	trace(1 + (curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ ));
	trace(curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ [0].cpu_id);
	trace(- *curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ );
	stack(curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ );
	@ = sum(curpsinfo /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ );
	x = curcpu /* ERROR D_OP_DYN "the output of a translator can only be used through its members" */ ;
	trace(&curcpu /* ERROR D_ADDROF_VAR "cannot take address of dynamic object" */ );
	this->p = pid == 1 ? *curpsinfo : *curpsinfo;
	this->p = pid == 1 ? *curpsinfo : this->p;
	trace(this->p.pr_pid);
	trace((pid ? curpsinfo /* ERROR D_OP_DYN "operator \?: cannot choose among outputs of translators, .psinfo_t \*.: let it choose among their members" */ : curpsinfo)->pr_pid);
	trace(pid ? 0 : curpsinfo /* ERROR D_OP_DYN "operator \?: cannot choose among outputs of translators" */ );
	trace(pid ? /* ERROR D_OP_INCOMPAT "operator \?: operands must have compatible types" */ *curpsinfo : 0);
	trace(curthread->comm);
	trace(curthread-> /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct task_struct" */ nosuch);
	trace(((struct file *)arg0)->f_path.dentry->d_name.name);
	trace(((struct file *)arg0)->f_path. /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct path" */ nosuch);
	trace((nomod`foo_t /* ERROR D_TYPE_ERR "failed to resolve type nomod`foo_t: no module nomod" */ *)0);
}
