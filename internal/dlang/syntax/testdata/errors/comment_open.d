BEGIN
{
	/* ERROR NEXT D_SYNTAX "end-of-file encountered before matching" */
	/* this comment does not end
}
