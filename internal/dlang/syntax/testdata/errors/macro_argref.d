/* CONFIG args=unused argref */
BEGIN
{
	trace(1);
}
