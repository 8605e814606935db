/* Associative, thread-local, clause-local and C arrays. */
int requests[int, string], worst;
self string stack[int];
this char buf[16];
struct pair { int a; unsigned long long b; } last[4], *where;
uint64_t seen[struct task_struct *, uint64_t];

sched:::off-cpu
{
	requests[args[1]->pr_pid, stringof(args[1]->pr_fname)] += 1;
	seen[curthread, arg0 & ~0xfff]++;
	self->stack[self->n++] = probefunc;
	this->buf[0] = 'a'; this->buf[1] = '\0';
	last[worst % 4].a = --worst;
	where = &last[0];
	(*where).b = where[1].b << 3 | where->b >> (sizeof (int) * 8 - 1);
	trace((int)this->buf[0] + -1 - -2 + ~3 + !4);
	tracemem(this->buf, 16), trace(offsetof(struct pair, b));
	seen[curthread, 0] = 0;
}
