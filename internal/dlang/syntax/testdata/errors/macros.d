/* Macro variables and arguments. */
/* CONFIG args=one,18446744073709551616,-5,a`b,"q */
BEGIN
{
	trace($0); trace($1); trace($$1); trace($3); trace($4); trace($5);
	trace($6 /* ERROR D_MACRO_UNDEF "macro argument \$6 is not defined" */);
	trace($$9 /* ERROR D_MACRO_UNDEF "macro argument \$9 is not defined" */);
	trace($2 /* ERROR D_MACRO_OFLOW "macro argument \$2 constant 18446744073709551616 results in integer overflow" */);
	trace($pid + $ppid + $pgid + $sid + $uid + $euid + $gid + $egid + $target);
	trace($$pid);
	trace($projid /* ERROR D_MACRO_UNDEF "macro variable \$projid is not defined" */);
	trace($taskid /* ERROR D_MACRO_UNDEF "macro variable \$taskid is not defined" */);
	trace($nothing /* ERROR D_MACRO_UNDEF "macro variable \$nothing is not defined" */);
	trace($$nothing /* ERROR D_MACRO_UNDEF "macro variable \$nothing is not defined" */);
	trace($ /* ERROR D_SYNTAX "near "\$"" */);
	trace(999 + $99999999999999999999 /* ERROR D_MACRO_UNDEF "is not defined" */);
}
