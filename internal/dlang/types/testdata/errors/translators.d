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
	trace(curthread->comm);
	trace(curthread-> /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct task_struct" */ nosuch);
	trace(((struct file *)arg0)->f_path.dentry->d_name.name);
	trace(((struct file *)arg0)->f_path. /* ERROR D_TYPE_MEMBER "nosuch is not a member of struct path" */ nosuch);
	trace((nomod`foo_t /* ERROR D_TYPE_ERR "failed to resolve type nomod`foo_t: no module nomod" */ *)0);
}
