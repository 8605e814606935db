/* not destructive */
BEGIN
{
	stop /* ERROR D_UNKNOWN "stop\( \): destructive actions not allowed" */ ();
	raise /* ERROR D_UNKNOWN "raise\( \): destructive actions not allowed" */ (9);
	system /* ERROR D_UNKNOWN "system\( \): destructive actions not allowed" */ ("ls");
	freopen /* ERROR D_UNKNOWN "freopen\( \): destructive actions not allowed" */ ("/tmp/x");
	chill /* ERROR D_UNKNOWN "chill\( \): destructive actions not allowed" */ (5);
	panic /* ERROR D_UNKNOWN "panic\( \): destructive actions not allowed" */ ();
	breakpoint /* ERROR D_UNKNOWN "breakpoint\( \): destructive actions not allowed" */ ();
	copyout /* ERROR D_UNKNOWN "copyout\( \): destructive actions not allowed" */ (alloca(8), arg0, 8);
	copyoutstr /* ERROR D_UNKNOWN "copyoutstr\( \): destructive actions not allowed" */ ("x", arg0, 8);
	trace(1);
}
