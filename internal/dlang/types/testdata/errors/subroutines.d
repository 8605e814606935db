BEGIN
{
	trace(strlen /* ERROR D_PROTO_LEN "strlen\( \) prototype mismatch: 0 args passed, 1 expected" */ ());
	trace(strlen(5 /* ERROR D_PROTO_ARG "strlen\( \) argument #1 is incompatible with prototype:\n\tprototype: char \*\n\t argument: int" */ ));
	trace(strlen /* ERROR D_PROTO_LEN "strlen\( \) prototype mismatch: 2 args passed, 1 expected" */ ("x", "y"));
	trace(strjoin("x", 1 /* ERROR D_PROTO_ARG "strjoin\( \) argument #2" */ ));
	trace(substr /* ERROR D_PROTO_LEN "substr\( \) prototype mismatch: 1 arg passed, at least 2 expected" */ ("x"));
	trace(substr("x", "y" /* ERROR D_PROTO_ARG "substr\( \) argument #2" */ ));
	trace(substr("x", 1, "y" /* ERROR D_PROTO_ARG "substr\( \) argument #3" */ ));
	trace(substr /* ERROR D_PROTO_LEN "substr\( \) prototype mismatch: 4 args passed, at least 2 expected" */ ("x", 1, 2, 3));
	trace(index("x" , 5 /* ERROR D_PROTO_ARG "index\( \) argument #2" */ ));
	trace(strchr("x", "y" /* ERROR D_PROTO_ARG "strchr\( \) argument #2 is incompatible with prototype:\n\tprototype: char\n" */ ));
	trace(copyinstr /* ERROR D_PROTO_LEN "copyinstr\( \) prototype mismatch: 0 args passed, at least 1 expected" */ ());
	trace(copyinstr("x" /* ERROR D_PROTO_ARG "copyinstr\( \) argument #1" */ ));
	trace(copyin /* ERROR D_PROTO_LEN "copyin\( \) prototype mismatch: 1 arg passed, 2 expected" */ (1));
	trace(lltostr("x" /* ERROR D_PROTO_ARG "lltostr\( \) argument #1" */ ));
	trace(rand /* ERROR D_PROTO_LEN "rand\( \) prototype mismatch: 1 arg passed, 0 expected" */ (1));
	trace(speculation /* ERROR D_PROTO_LEN "speculation\( \)" */ (1));
	trace(alloca("x" /* ERROR D_PROTO_ARG "alloca\( \) argument #1" */ ));
	trace(htons("x" /* ERROR D_PROTO_ARG "htons\( \) argument #1" */ ));
	trace(inet_ntoa("x" /* ERROR D_PROTO_ARG "inet_ntoa\( \) argument #1" */ ));
	trace(inet_ntop /* ERROR D_PROTO_LEN "inet_ntop\( \)" */ (2));
	trace(basename(5 /* ERROR D_PROTO_ARG "basename\( \) argument #1" */ ));
	trace(dirname /* ERROR D_PROTO_LEN "dirname\( \)" */ ());
	trace(cleanpath(curthread /* ERROR D_PROTO_ARG "cleanpath\( \) argument #1 is incompatible with prototype:\n\tprototype: char \*\n\t argument: struct task_struct \*" */ ));
	trace(strtok /* ERROR D_PROTO_LEN "strtok\( \) prototype mismatch: 1 arg passed, 2 expected" */ ("x"));
	trace /* ERROR D_TRACE_VOID "trace\( \) may not be applied to a void expression" */ (bcopy(alloca(1), alloca(1), 1));
	trace(progenyof("x" /* ERROR D_PROTO_ARG "progenyof\( \) argument #1" */ ));
	trace(mutex_owned /* ERROR D_PROTO_LEN "mutex_owned\( \)" */ ());
	trace(toupper(1 /* ERROR D_PROTO_ARG "toupper\( \) argument #1" */ ));
	trace(strtoll /* ERROR D_PROTO_LEN "strtoll\( \) prototype mismatch: 0 args passed, at least 1 expected" */ ());
	trace(getmajor("x" /* ERROR D_PROTO_ARG "getmajor\( \) argument #1" */ ));
	trace(strlen(curthread->comm));
	trace(strlen(probefunc));
	trace(mutex_owned((struct mutex *)arg0));
	trace(progenyof(pid));
	trace(copyinstr(arg0, 10));
}
