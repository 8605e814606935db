#!/usr/sbin/dtrace -s
#pragma D option quiet
#pragma D binding "1.0" a

BEGIN
{
}

syscall::read*:entry,
syscall::write?:entry, pid$target:libc:[mc]alloc:
/pid == $target && arg0 / 2 != 1/
{
	self->ts = a = timestamp;
	;
	trace(1)
}

kinst::vfs_read:0x9 { @ = count(); }
::foo.cold:, 12, END { }
