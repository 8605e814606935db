/* How often a branch is taken: the flags before the jump tell. */
enum { CARRY = 0x1, ZERO = 0x40, SIGN = 0x80, OVERFLOW = 0x800 };

uint64_t taken, fell;

kinst::copy_process:0x1f4
{
	this->flags = regs[R_RFL];
	if (this->flags & ZERO && !(this->flags & CARRY)) {
		taken++;
		@where["taken", caller] = count();
	} else if (((this->flags & SIGN) != 0) ^^ ((this->flags & OVERFLOW) != 0)) {
		fell++;
		@where["less", caller] = count();
	} else
		@where["fell through", caller] = count();
}

tick-1s
/taken + fell/
{
	printf("%d of %d (%d%%)\n", taken, taken + fell, 100 * taken / (taken + fell));
	taken = fell = 0;
}
