#!/usr/bin/env -S kinst -s
/*
 * rwbytes.d: how large the reads and writes are, by process.
 *
 *	rwbytes.d [-c CMD]
 *
 * At its first instruction, the third argument of vfs_read() and vfs_write() is
 * in the register that the calling convention gives it: the size that was asked
 * for. On Ctrl-C the sizes are shown as a distribution for each process.
 */
#pragma D option quiet

kinst::vfs_read:0
{
	@size[execname, "reads"] = quantize(regs[R_RDX]);
	@total[execname, "reads"] = sum(regs[R_RDX]);
}

kinst::vfs_write:0
{
	@size[execname, "writes"] = quantize(regs[R_RDX]);
	@total[execname, "writes"] = sum(regs[R_RDX]);
}

END
{
	printa("%s %s\n%@d\n", @size);
	printf("%-16s %-8s %16s\n", "PROCESS", "", "BYTES");
	printa("%-16s %-8s %@16d\n", @total);
}
