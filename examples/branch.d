#!/usr/bin/env -S kinst -s
/*
 * branch.d: how often a conditional jump is taken.
 *
 *	branch.d FUNCTION JUMP NEXT
 *
 * JUMP is the offset of the jump, NEXT that of the instruction behind it. What
 * comes to JUMP and not to NEXT has been taken. NEXT must not be the target of
 * another jump.
 */
#pragma D option quiet

kinst::$1:$2
{
	passed++;
}

kinst::$1:$3
{
	fell++;
}

END
{
	printf("%s+%d: executed %d times, taken %d times", $$1, $2, passed, passed - fell);
}

END
/passed > 0/
{
	printf(" (%d %%)", (passed - fell) * 100 / passed);
}

END
{
	printf("\n");
}
