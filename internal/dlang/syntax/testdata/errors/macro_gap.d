/* Only the last argument has to be used: the others may be for other programs. */
/* CONFIG args=unused,used */
BEGIN
{
	trace($$2);
}
