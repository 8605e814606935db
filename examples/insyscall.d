#!/usr/bin/env -S kinst -s
/*
 * insyscall.d: the instructions of a function that are executed on behalf of
 * one system call, and no other.
 *
 *	insyscall.d SYSCALL FUNCTION
 *
 * A variable of the thread is set while it is in the system call; the
 * instructions count only then.
 */
#pragma D option quiet

syscall::$1:entry
{
	self->inside = 1;
	@calls = count();
}

kinst::$2:
/self->inside/
{
	@executed[probename] = count();
}

syscall::$1:return
{
	self->inside = 0;
}

END
{
	printa("%@d calls\n", @calls);
	printf("%8s %12s\n", "OFFSET", "EXECUTED");
	setopt("aggsortkey");
	printa("%8s %@12d\n", @executed);
}
