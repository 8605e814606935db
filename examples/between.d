#!/usr/bin/env -S kinst -s
/*
 * between.d: the time from one instruction of a function to another one that
 * the same thread reaches later, in nanoseconds.
 *
 *	between.d FUNCTION FROM TO
 *
 * FROM and TO are offsets, as "kinst disas FUNCTION" lists them. A thread that
 * passes FROM again before TO starts anew.
 */
#pragma D option quiet

kinst::$1:$2
{
	self->since = timestamp;
}

kinst::$1:$3
/self->since/
{
	@times["nanoseconds"] = quantize(timestamp - self->since);
	@runs["runs"] = count();
	self->since = 0;
}
