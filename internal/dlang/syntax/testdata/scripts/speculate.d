/* Keep what a system call did in the kernel, but show it only if it failed. */
#pragma D option nspec=16
#pragma D option specsize=256k

syscall::openat:entry
{
	self->spec = speculation();
	self->path = copyinstr(arg1);
}

syscall::openat:entry
/self->spec/
{
	speculate(self->spec);
	printf("%s[%d] opens %s\n", execname, pid, stringof(self->path));
}

fbt::*open*:entry
/self->spec/
{
	speculate(self->spec);
	printf("  %s(%#x, %#x)", probefunc, arg0, arg1);
}

syscall::openat:return
/self->spec && errno != 0/
{
	commit(self->spec);
	@failed[errno] = count();
}

syscall::openat:return
/self->spec && errno == 0/
{
	discard(self->spec);
}

syscall::openat:return
/self->spec/
{
	self->spec = 0; self->path = 0;
}
