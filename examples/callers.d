#!/usr/bin/env -S kinst -s
/*
 * callers.d: who calls a function, and how often, every second.
 *
 *	callers.d FUNCTION
 *
 * At the first instruction of a function, the word on the top of the stack is
 * where it returns to: in its caller.
 */
#pragma D option quiet

kinst::$1:0
{
	@calls[sym(*(uintptr_t *)regs[R_RSP]), execname] = count();
}

tick-1s,
END
{
	printa("%a %-16s %@10d\n", @calls);
	trunc(@calls);
}
