#!/usr/sbin/dtrace -qs
/* CONFIG args=read,cat */
/* Time in one system call, by outcome. Usage: syscalltime.d name [process] */

inline string NAME = $$1;
inline int MS = 1000 * 1000;

self uint64_t began;

syscall::$1:entry
/execname != "dtrace" && ($$2 == "" || execname == $$2)/
{
	self->began = timestamp;
	self->arg = arg0
}

syscall::$1:return
/self->began/
{
	this->elapsed = timestamp - self->began;
	@[NAME, errno == 0 ? "ok" : "failed"] = lquantize(this->elapsed / MS, 0, 100, 10);
	@max["slowest", self->arg] = max(this->elapsed);
	self->began = 0;
	self->arg = 0;
}

profile:::tick-10sec { exit(0); }
