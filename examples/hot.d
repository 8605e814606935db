#!/usr/bin/env -S kinst -s
/*
 * hot.d: the instructions of a function that are executed most often.
 *
 *	hot.d FUNCTION [N]
 *
 * Shows the N (10) busiest ones every five seconds, and at the end.
 */
#pragma D option quiet
#pragma D option defaultargs

kinst::$1:
{
	@executed[probefunc, probename] = count();
}

tick-5s,
END
{
	trunc(@executed, $2 ? $2 : 10);
	printf("%-32s %8s %12s\n", "FUNCTION", "OFFSET", "EXECUTED");
	printa("%-32s %8s %@12d\n", @executed);
	trunc(@executed);
}
