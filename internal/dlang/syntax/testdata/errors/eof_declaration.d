/* ERROR END D_SYNTAX "syntax error near end of input" */
struct s {
	int x
