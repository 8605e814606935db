#!/usr/bin/env -S kinst -s
/*
 * failopen.d: what a function did in those calls of open() that failed.
 *
 *	failopen.d FUNCTION
 *
 * Every call is traced speculatively: what FUNCTION executes is recorded, and
 * thrown away if open() succeeds. When it fails, the record is shown.
 */
#pragma D option quiet
#pragma D option nspec=16

syscall::openat:entry
{
	self->spec = speculation();
	self->name = arg1;
}

syscall::openat:entry
/self->spec/
{
	speculate(self->spec);
	printf("%s opens %s\n", execname, copyinstr(self->name));
}

kinst::$1:
/self->spec/
{
	speculate(self->spec);
	printf("\t%s+%s\n", probefunc, probename);
}

syscall::openat:return
/self->spec && errno != 0/
{
	speculate(self->spec);
	printf("\tfails with error %d\n", errno);
}

syscall::openat:return
/self->spec && errno != 0/
{
	commit(self->spec);
	self->spec = 0;
}

syscall::openat:return
/self->spec && errno == 0/
{
	discard(self->spec);
	self->spec = 0;
}
