#!/usr/bin/env -S kinst -s
/*
 * regdist.d: the values that a register has at an instruction.
 *
 *	regdist.d FUNCTION OFFSET REGISTER
 *
 * REGISTER is one of D's names, such as R_RDX. The distribution is by powers of
 * two; beside it are the extremes and the average.
 */
#pragma D option quiet

kinst::$1:$2
{
	@values[$$3] = quantize(regs[$3]);
	@least = min(regs[$3]);
	@most = max(regs[$3]);
	@mean = avg(regs[$3]);
	@hits = count();
}

END
{
	printa(@values);
	printa("hits %@d, ", @hits);
	printa("least %@d, ", @least);
	printa("most %@d, ", @most);
	printa("average %@d\n", @mean);
}
