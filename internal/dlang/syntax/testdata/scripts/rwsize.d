#!/usr/sbin/dtrace -s
/*
 * rwsize.d: how large the reads and writes of each process are.
 *
 * Sizes asked for are counted, not those that came back.
 */
#pragma D option quiet

dtrace:::BEGIN
{
	printf("Tracing reads and writes... Hit Ctrl-C to end.\n");
	start = timestamp;
}

syscall::*read*:entry,
syscall::*write*:entry
/pid != $pid/
{
	@size[execname, probefunc] = quantize(arg2);
	@total[execname] = sum(arg2);
	@calls[execname] = count();
}

dtrace:::END
{
	this->seconds = (timestamp - start) / 1000000000;
	normalize(@total, this->seconds > 0 ? this->seconds : 1);
	trunc(@total, 10);
	printf("\n%-16s %12s %12s\n", "PROCESS", "BYTES/S", "CALLS");
	printa("%-16s %@12d %@12d\n", @total, @calls);
	printa(@size);
}
