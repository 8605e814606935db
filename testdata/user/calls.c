// A program whose calls are known: what it does is in its arguments.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN __attribute__((noinline, noclone))

FN long add(long a, long b)
{
	__asm__ volatile("" : "+r"(a)); // lest the call be dropped
	return a + b;
}

FN long nine(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	__asm__ volatile("" : "+r"(a));
	return a + b + c + d + e + f + g + h + i;
}

// Two returns, and a call in tail position.
FN long pick(long n)
{
	if (n == 0)
		return 10;
	if (n == 1)
		return add(n, n);
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}

static void *thread(void *n)
{
	for (long i = 0; i < (long)n; i++)
		add(i, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	if (!strcmp(argv[1], "add")) {
		thread((void *)n);
	} else if (!strcmp(argv[1], "nine")) {
		nine(1, 2, 3, 4, 5, 6, 7, 8, 9);
	} else if (!strcmp(argv[1], "pick")) {
		for (long i = 0; i < 4; i++)
			pick(i);
	} else if (!strcmp(argv[1], "threads")) {
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, thread, (void *)n);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	} else if (!strcmp(argv[1], "fork")) {
		pid_t child = fork();
		thread((void *)n);
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	} else if (!strcmp(argv[1], "exec")) {
		thread((void *)n);
		execl(argv[0], argv[0], "add", argv[2], NULL);
	} else if (!strcmp(argv[1], "sleep")) {
		sleep(60);
	} else if (!strcmp(argv[1], "exit")) {
		return n;
	} else if (!strcmp(argv[1], "abort")) {
		abort();
	}
	return 0;
}
