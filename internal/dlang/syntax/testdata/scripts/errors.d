/* What a script does about failures of its own. */
#pragma D option destructive
BEGIN { x = 0; ticks = (uint64_t)0; }

ERROR
{
	printf("clause %d of probe %d, offset %d: fault %d at %p\n", arg2, arg1, arg3, arg4, arg5);
	@faults[arg4] = count();
}

profile-997hz /arg0/ { @[stack(5), ustack(20, 500), sym(arg0)] = count(); }

tick-1sec, END
/++ticks >= 5 || x == 1/
{
	printa("%k %@d\n", @);
	clear(@); clear(@faults);
	system("uptime; echo %d", (int)ticks);
	freopen("/tmp/out.%d", ticks);
}

proc:::exec-success { @[pid == 1 ? "init" : execname, curpsinfo->pr_psargs] = stddev(arg0); }
