/* CONFIG args=used,unused */
/* ERROR END D_MACRO_UNUSED "extraneous argument 'unused' \(\$2 is not referenced\)" */
BEGIN
{
	trace($$1);
}
