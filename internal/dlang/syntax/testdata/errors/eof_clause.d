/* ERROR END D_SYNTAX "syntax error near end of input" */
BEGIN
{
	trace(1);
