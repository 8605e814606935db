/* Predicates. */
BEGIN / / /* ERROR D_SYNTAX "near "/"" */ { }
BEGIN /x == 1/ { }
BEGIN /x / 2 == 1/ { }
BEGIN /(x / 2)/ /* a comment may come here */ { }
BEGIN /(x == 1/ /* ERROR D_SYNTAX "closing \) expected in predicate before /" */ { trace(1); }
BEGIN /a[1/ /* ERROR D_SYNTAX "closing \] expected in predicate before /" */ { trace(1); }
BEGIN /x == 1) /* ERROR D_SYNTAX "extra \)" */ / { trace(1); }
BEGIN /x == / /* ERROR D_SYNTAX "near "/"" */ { trace(1); }
BEGIN /x y /* ERROR D_SYNTAX "near "y": "/" expected" */ / { trace(1); }
BEGIN /x; /* ERROR D_SYNTAX "near ";"" */ y/ { trace(1); }
BEGIN /x/ { trace(1); }
