// Instructions that the kernel's uprobes would get wrong. The results go to the
// file that is named.
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN __attribute__((noinline))

static char from[100], to[100];

FN void repeated(void)
{
	char *s = from, *d = to;
	long n = sizeof from;
	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
}

FN long child(void)
{
	long pid;
	__asm__ volatile("syscall" : "=a"(pid) : "a"(SYS_fork) : "rcx", "r11", "memory");
	return pid;
}

FN uint64_t flags(void)
{
	uint64_t f;
	__asm__ volatile("pushfq; pop %0" : "=r"(f));
	return f;
}

FN long exchanged(long a, long b)
{
	register long r8 __asm__("r8") = b;
	__asm__ volatile(".byte 0x49, 0x90" : "+r"(r8), "+a"(a)); // xchg %r8,%rax
	return a;
}

FN long added(long *to, long n)
{
	__asm__ volatile("lock xadd %0, %1" : "+r"(n), "+m"(*to));
	return n;
}

FN int jumped(int n)
{
	static void *table[] = {&&zero, &&one, &&two};
	__asm__ volatile("" : "+r"(n));
	goto *table[n];
zero:
	return 7;
one:
	return 11;
two:
	return 13;
}

int main(int argc, char **argv)
{
	FILE *out = fopen(argv[1], "w");
	long word = 5, status = 0;
	from[99] = 'x';
	repeated();
	long pid = child();
	if (pid == 0)
		_exit(7);
	int ended = 0;
	waitpid(pid, &ended, 0);
	fprintf(out, "%c %d %#lx %ld %ld %ld %d\n", to[99], WEXITSTATUS(ended), (long)flags(), exchanged(1, 2),
		added(&word, 3), word, jumped(1) + jumped(2));
	return status;
}
