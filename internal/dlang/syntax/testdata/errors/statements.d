/* if, else and what stands around them. */
BEGIN
{
	if x /* ERROR D_SYNTAX "near "x": "\(" expected" */ trace(1);
	if (x trace /* ERROR D_SYNTAX "near "trace": "\)" expected" */ (1);
	if () /* ERROR D_SYNTAX "near "\)"" */ trace(1);
	if (x) { trace(1) } else else /* ERROR D_SYNTAX "near "else"" */ trace(2);
	if (x) { trace(1) trace /* ERROR D_SYNTAX "near "trace": ";" expected" */ (2); }
	if (x) int /* ERROR D_SYNTAX "near "int"" */ y;
	if (x) ; else { trace(1 } /* ERROR D_SYNTAX "near "}": "\)" expected" */
	this int; /* ERROR D_SYNTAX "near ";"" */
	this int x = /* ERROR D_SYNTAX "near "=": ";" expected" */ 1;
	this this /* ERROR D_DECL_CLASS "only one storage class" */ int x;
	self struct { int a /* the brace ends the member too early */ } /* ERROR D_SYNTAX "near "}": ";" expected" */ z;
	int /* ERROR D_SYNTAX "near "int"" */ y;
	switch /* ERROR D_SYNTAX "near "switch"" */ (x) { case 1: trace(1); }
	trace(1); trace(2) trace /* ERROR D_SYNTAX "near "trace": ";" expected" */ (3) 5 6;
	if (x) } /* ERROR D_SYNTAX "near "}"" */
END
{
	trace(1)
}
