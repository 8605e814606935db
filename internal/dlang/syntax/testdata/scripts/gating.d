/* Every function that one system call runs through, and nothing else. */
#pragma D option flowindent

syscall::ioctl:entry
/pid == $target && guard++ == 0/
{
	self->traced = 1;
	printf("fd %d, command %#x", arg0, arg1)
}

fbt:::
/self->traced && probefunc != "irq_enter"/
{ }

syscall::ioctl:return
/self->traced/
{
	self->traced = 0;
	exit(0);
}
