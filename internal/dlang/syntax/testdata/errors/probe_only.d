syscall::read:entry /* ERROR D_SYNTAX "expected predicate and/or actions following probe description" */
