// Threads that preempt one another while they are traced.
#include <pthread.h>
#include <string.h>

#define THREADS 16
static char names[THREADS][200];

__attribute__((noinline)) void hit(long thread, long n, long sum, const char *name)
{
	__asm__ volatile("" : : "r"(thread), "r"(n), "r"(sum), "r"(name) : "memory");
}

static void *run(void *arg)
{
	long thread = (long)arg;
	for (long n = 0; n < 2000; n++)
		hit(thread, n, thread * 1000003 + n, names[thread]);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++) {
		memset(names[i], 'a' + i, 150 + i);
		pthread_create(&t[i], NULL, run, (void *)i);
	}
	for (long i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
