struct s { int a; };
struct s g;

BEGIN
{
	trace /* ERROR D_PROTO_LEN "trace\( \) prototype mismatch: 0 args passed, 1 expected" */ ();
	trace /* ERROR D_PROTO_LEN "trace\( \) prototype mismatch: 2 args passed, 1 expected" */ (1, 2);
	trace /* ERROR D_TRACE_VOID "trace\( \) may not be applied to a void expression" */ ((void)1);
	trace /* ERROR D_TRACE_DYN "trace\( \) may not be applied to a dynamic expression" */ (@a);
	print /* ERROR D_TRACE_DYN "print\( \) may not be applied to a dynamic expression" */ (@a);
	tracemem /* ERROR D_PROTO_LEN "tracemem\( \) prototype mismatch: 1 arg passed, at least 2 expected" */ (1);
	tracemem("x" /* ERROR D_TRACEMEM_ADDR "tracemem\( \) argument #1 is incompatible with prototype:\n\tprototype: pointer or integer\n\t argument: string" */ , 8);
	tracemem(arg0, pid /* ERROR D_TRACEMEM_SIZE "argument #2 must be a non-zero positive integral constant expression" */ );
	tracemem(arg0, 60009999000 /* ERROR D_TRACEMEM_SIZE "argument #2 is too big" */ );
	tracemem(arg0, 0 /* ERROR D_TRACEMEM_SIZE "argument #2 must be a non-zero positive" */ );
	tracemem(arg0, -1 /* ERROR D_TRACEMEM_SIZE "argument #2 must be a non-zero positive" */ );
	tracemem(arg0, 8, "x" /* ERROR D_TRACEMEM_DYNSIZE "argument #3 must be of integer type" */ );
	printf /* ERROR D_PROTO_LEN "printf\( \) prototype mismatch: 0 args passed, at least 1 expected" */ ();
	printf /* ERROR D_PRINTF_FMT_EMPTY "printf\( \) format string is empty" */ ("");
	printf(1 /* ERROR D_PRINTF_ARG_FMT "printf\( \) argument #1 is incompatible with prototype:\n\tprototype: string constant\n\t argument: int" */ );
	printf(execname /* ERROR D_PRINTF_ARG_FMT "prototype: string constant" */ );
	printf /* ERROR D_PRINTF_ARG_PROTO "printf\( \) prototype mismatch: conversion #1 \(%d\) is missing a corresponding value argument" */ ("%d");
	printf /* ERROR D_PRINTF_ARG_PROTO "conversion #2 \(%s\) is missing a corresponding value argument" */ ("%d %s", 1);
	printf("%d", 1, 2 /* ERROR D_PRINTF_ARG_EXTRA "only 1 arguments required by this format string" */ );
	printf("none", 1 /* ERROR D_PRINTF_ARG_EXTRA "only 0 arguments required by this format string" */ );
	printf("%d", "x" /* ERROR D_PRINTF_ARG_TYPE "argument #2 is incompatible with conversion #1 prototype:\n\tconversion: %d\n\t prototype: char, short, int, long, or long long\n\t  argument: string" */ );
	printf("%s", 5 /* ERROR D_PRINTF_ARG_TYPE "conversion: %s" */ );
	printf("%x %s", 1, pid /* ERROR D_PRINTF_ARG_TYPE "argument #3 is incompatible with conversion #2" */ );
	printf("%p", "x" /* ERROR D_PRINTF_ARG_TYPE "conversion: %p\n\t prototype: pointer or integer" */ );
	printf("%d", g /* ERROR D_PRINTF_ARG_TYPE "argument: struct s" */ );
	printf("%s", stack /* ERROR D_PRINTF_ARG_TYPE "conversion: %s" */ ());
	printf("%k", 1 /* ERROR D_PRINTF_ARG_TYPE "conversion: %k\n\t prototype: stack" */ );
	printf("%hd", 1 /* ERROR D_PRINTF_ARG_TYPE "conversion: %hd\n\t prototype: short" */ );
	printf("%ld", 1 /* ERROR D_PRINTF_ARG_TYPE "conversion: %ld\n\t prototype: long" */ );
	printf("%Y", 1 /* ERROR D_PRINTF_ARG_TYPE "conversion: %Y" */ );
	printf("%f", 1 /* ERROR D_PRINTF_ARG_TYPE "conversion: %f" */ );
	printf("%d", @a /* ERROR D_PRINTF_ARG_TYPE "use printa\( \)" */ );
	printf /* ERROR D_PRINTF_AGG_CONV "%@ conversion requires an aggregation and is not for use with printf" */ ("%@d", 1);
	printf /* ERROR D_PRINTF_DYN_PROTO "conversion #1 \(%d\) is missing a corresponding" */ ("%*d");
	printf("%*d", "x" /* ERROR D_PRINTF_DYN_TYPE "argument #2 is incompatible with conversion #1 prototype:\n\tconversion: %\*\n\t prototype: int" */ , 1);
	printf("%.*s", 5l /* ERROR D_PRINTF_DYN_TYPE "prototype: int" */ , "x");
	printf("%j" /* ERROR D_PRINTF_FMT "format conversion #1 is undefined: %j" */ , 1);
	printf("%d %" /* ERROR D_PRINTF_FMT "format conversion #2 ends before its letter" */ , 1);
	exit /* ERROR D_PROTO_LEN "exit\( \) prototype mismatch: 0 args passed, 1 expected" */ ();
	exit("x" /* ERROR D_PROTO_ARG "exit\( \) argument #1 is incompatible with prototype:\n\tprototype: int\n\t argument: string" */ );
	stack /* ERROR D_STACK_PROTO "stack\( \) prototype mismatch: too many arguments" */ (1, 2);
	stack(0 /* ERROR D_STACK_SIZE "stack\( \) size must be a non-zero positive integral constant expression" */ );
	stack(pid /* ERROR D_STACK_SIZE "must be a non-zero positive integral constant expression" */ );
	ustack(pid /* ERROR D_USTACK_FRAMES "ustack\( \) argument #1 must be a non-zero positive integer constant" */ );
	ustack(5, pid /* ERROR D_USTACK_STRSIZE "ustack\( \) argument #2 must be a positive integer constant" */ );
	ustack(5, -1 /* ERROR D_USTACK_STRSIZE "argument #2 must be a positive integer constant" */ );
	ustack /* ERROR D_USTACK_PROTO "ustack\( \) prototype mismatch: too many arguments" */ (5, 1, 1);
	jstack(0 /* ERROR D_USTACK_FRAMES "jstack\( \) argument #1" */ );
	sym /* ERROR D_PROTO_LEN "sym\( \) prototype mismatch: 0 args passed, 1 expected" */ ();
	func("x" /* ERROR D_PROTO_ARG "func\( \) argument #1 is incompatible with prototype:\n\tprototype: uintptr_t" */ );
	usym /* ERROR D_PROTO_LEN "usym\( \) prototype mismatch: 2 args passed, 1 expected" */ (1, 2);
	setopt /* ERROR D_PROTO_LEN "setopt\( \) prototype mismatch" */ ();
	setopt(1 /* ERROR D_PROTO_ARG "setopt\( \) argument #1 is incompatible with prototype:\n\tprototype: const char \*" */ );
	system(5 /* ERROR D_PRINTF_ARG_FMT "system\( \) argument #1" */ );
	system /* ERROR D_PRINTF_FMT_EMPTY "system\( \) format string is empty" */ ("");
	freopen("");
	freopen("%d", "x" /* ERROR D_PRINTF_ARG_TYPE "freopen\( \) argument #2" */ );
	ftruncate /* ERROR D_PROTO_LEN "ftruncate\( \) prototype mismatch: 1 arg passed, 0 expected" */ (1);
	raise("x" /* ERROR D_PROTO_ARG "raise\( \) argument #1" */ );
	raise /* ERROR D_PROTO_LEN "raise\( \)" */ ();
	stop /* ERROR D_PROTO_LEN "stop\( \) prototype mismatch: 1 arg passed, 0 expected" */ (1);
	chill /* ERROR D_PROTO_LEN "chill\( \)" */ ();
	panic /* ERROR D_PROTO_LEN "panic\( \)" */ (1);
	breakpoint /* ERROR D_PROTO_LEN "breakpoint\( \)" */ (1);
	speculate("x" /* ERROR D_PROTO_ARG "speculate\( \) argument #1" */ );
	commit /* ERROR D_PROTO_LEN "commit\( \)" */ ();
	discard /* ERROR D_PROTO_LEN "discard\( \)" */ (1, 2);
}

BEGIN { commit(1);
	commit /* ERROR D_COMM_COMM "commit\( \) may not follow commit\( \)" */ (1); }
BEGIN { trace(1);
	commit /* ERROR D_COMM_DREC "commit\( \) may not follow data-recording action" */ (1); }
BEGIN { commit(1);
	trace /* ERROR D_DREC_COMM "data-recording actions may not follow commit\( \)" */ (1); }
BEGIN { commit(1);
	@a = /* ERROR D_AGG_COMM "aggregating actions may not follow commit\( \)" */ count(); }
BEGIN { speculate(1);
	speculate /* ERROR D_SPEC_SPEC "speculate\( \) may not follow speculate\( \)" */ (1); }
BEGIN { commit(1);
	speculate /* ERROR D_SPEC_COMM "speculate\( \) may not follow commit\( \)" */ (1); }
BEGIN { trace(1);
	speculate /* ERROR D_SPEC_DREC "speculate\( \) may not follow data-recording action" */ (1); }
BEGIN { @a = count();
	speculate /* ERROR D_SPEC_DREC "speculate\( \) may not follow data-recording action" */ (1); }
BEGIN { speculate(1);
	@a = /* ERROR D_AGG_SPEC "aggregating actions may not follow speculate\( \)" */ count(); }
BEGIN { speculate(1);
	stop /* ERROR D_ACT_SPEC "destructive actions may not follow speculate\( \)" */ (); }
BEGIN { speculate(1);
	copyout /* ERROR D_ACT_SPEC "destructive actions may not follow speculate\( \)" */ (alloca(8), arg0, 8); }
BEGIN { speculate(1);
	exit /* ERROR D_EXIT_SPEC "exit\( \) may not follow speculate\( \)" */ (1); }
BEGIN { x = 1; speculate(1); trace(1); printf("x"); }
BEGIN { commit(1); x = 0; }
BEGIN { discard(1); trace(1); }
