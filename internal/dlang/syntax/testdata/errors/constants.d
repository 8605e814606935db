/* Integer, character and string constants. */
BEGIN
{
	x = 18446744073709551615;
	x = 18446744073709551616 /* ERROR D_INT_OFLOW "constant 18446744073709551616 results in integer overflow" */;
	x = 0xffffffffffffffff + 0x10000000000000000 /* ERROR D_INT_OFLOW "integer overflow" */;
	x = 02000000000000000000000 /* ERROR D_INT_OFLOW "integer overflow" */;
	x = 01777777777777777777777;
	x = 08 /* ERROR D_INT_DIGIT "constant 08 contains invalid digit 8" */;
	x = 0779 /* ERROR D_INT_DIGIT "constant 0779 contains invalid digit 9" */;
	x = 12ab /* ERROR D_SYNTAX "near "ab": ";" expected" */;
	x = 0xg /* ERROR D_SYNTAX "near "xg"" */;
	x = 1ulll /* ERROR D_SYNTAX "near "l"" */;
	x = '' /* ERROR D_CHR_NULL "empty character constant" */;
	x = 'abcdefgh';
	x = 'abcdefghi' /* ERROR D_CHR_OFLOW "character constant is too long" */;
	x = '\'';
	/* ERROR NEXT D_CHR_NL "newline encountered in character constant" */
	x = 'a;
	y = 1;
	/* ERROR NEXT D_STR_NL "newline encountered in string literal" */
	printf("never closed);
	y = 1;
	/* ERROR NEXT D_STR_NL "newline encountered in string literal" */
	printf("backslash \
	y = 1;
	x = "fine \" and 'fine'" 'x' /* ERROR D_SYNTAX "near "'x'"" */;
}
