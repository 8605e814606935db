/* A predicate that begins with an asterisk is a comment. */
syscall::read:entry /* ERROR D_SYNTAX "expected predicate and/or actions" */ /*p == 1/
{
	trace(1);
}
*/
