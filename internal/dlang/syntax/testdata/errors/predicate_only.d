BEGIN /* ERROR D_SYNTAX "expected actions \{ \} following probe description and predicate" */ /x == 1/
