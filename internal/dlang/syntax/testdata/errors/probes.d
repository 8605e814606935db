/* Probe descriptions. */
/* CONFIG args=read */
syscall::$1:entry { }
syscall::$$1:entry, pid$target:::entry { }
a:b:c:d:e /* ERROR D_PDESC_INVAL "invalid probe description "a:b:c:d:e": Overspecified probe description" */ { trace(1); }
pid$nobody:::entry /* ERROR D_PDESC_INVAL "invalid probe description "pid\$nobody:::entry": Undefined macro variable in probe description" */ { }
pid$2:::entry /* ERROR D_PDESC_INVAL "Undefined macro variable" */ { }
pid$:::entry /* ERROR D_PDESC_INVAL "Undefined macro variable" */ { }
pid$1$2:::entry /* ERROR D_PDESC_INVAL "Undefined macro variable" */ { }
pid$1x:::entry /* ERROR D_PDESC_INVAL "Undefined macro variable" */ { }
0 /* ERROR D_PDESC_INVAL "invalid probe identifier 0" */ { }
4294967296 /* ERROR D_PDESC_INVAL "identifier 4294967296 exceeds maximum probe id" */ { }
12, 13 { }
syscall::read:entry, /* the brace is no probe */ { /* ERROR D_SYNTAX "near "{"" */ trace(1); }
, /* ERROR D_SYNTAX "near ","" */ syscall::read:entry { trace(1); }
syscall::read:entry /* ERROR D_SYNTAX "expected predicate and/or actions" */ ; { trace(1); }
syscall::read:entry /* ERROR D_SYNTAX "expected predicate and/or actions" */ syscall::write:entry { trace(1); }
@ /* ERROR D_SYNTAX "near "@"" */ { }
syscall::read:entry /* ERROR D_SYNTAX "expected predicate and/or actions" */ ( ) { }
{ /* ERROR D_SYNTAX "near "{"" */ trace(1); }
} /* ERROR D_SYNTAX "near "}"" */
syscall::fine:entry { }
