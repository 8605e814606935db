#!/usr/bin/env -S kinst -s
/*
 * rarepath.d: how a rare place of a function is reached.
 *
 *	rarepath.d FUNCTION OFFSET
 *
 * Give it the offset of an error path, of a slow path, of anything that should
 * not happen. The first time that a process comes by, it is said; the stacks
 * are counted.
 */
#pragma D option quiet

kinst::$1:$2
/!seen[pid]/
{
	seen[pid] = 1;
	printf("%Y %s (process %d) is at %s+%d\n", walltimestamp, execname, pid, probefunc, $2);
}

kinst::$1:$2
{
	@[stack(12)] = count();
}
