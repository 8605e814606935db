/* CONFIG args=a defaultargs */
BEGIN
{
	trace($1 + $2);
	trace($$3);
}
