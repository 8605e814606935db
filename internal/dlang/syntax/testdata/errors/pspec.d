/* With -x pspec a type's name begins no declaration. */
/* CONFIG pspec */
foo_t* { }
foo_t /* ERROR D_SYNTAX "expected predicate and/or actions" */ x;
int y;
