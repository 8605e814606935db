#!/usr/bin/env -S kinst -s
/*
 * path.d: the way that calls of a function take through its instructions.
 *
 *	path.d FUNCTION CALLS
 *
 * Prints the instructions that the first CALLS calls execute, one after the
 * other, and what each call returns. While one call is followed, those of other
 * threads are not.
 */
#pragma D option quiet

kinst::$1:0
/!thread/
{
	thread = tid;
	calls++;
	printf("call %d, by %s\n", calls, execname);
}

kinst::$1:
/thread == tid/
{
	printf("  +%-6s at %x\n", probename, regs[R_RIP]);
}

fbt::$1:return
/thread == tid/
{
	thread = 0;
	printf("returns %d\n", arg1);
}

fbt::$1:return
/calls >= $2 && !thread/
{
	exit(0);
}
