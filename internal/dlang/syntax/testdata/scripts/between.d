/* The time between two instructions of a function, and the way from one to the other. */
#pragma D option bufsize=8m
#pragma D option aggsortrev

kinst:vmlinux:vfs_read:0x12
{
	self->at = vtimestamp;
	self->depth = stackdepth;
}

kinst:vmlinux:vfs_read:97,
kinst:vmlinux:vfs_read:0x8b
/self->at && stackdepth == self->depth/
{
	@time[probename] = avg(vtimestamp - self->at);
	@dist[probename, cpu] = quantize(vtimestamp - self->at);
	self->at = 0;
}
