// A function whose unlikely part is in another place, and returns from there.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, cold)) long rare(long n) { __asm__ volatile("" : "+r"(n)); return n * 7; }

__attribute__((noinline)) long work(long n)
{
	__asm__ volatile("" : "+r"(n));
	if (__builtin_expect(n % 10 == 3, 0)) {
		n = rare(n) + rare(n + 1);
		__asm__ volatile("" : "+r"(n));
	}
	return n + 1;
}

int main(int argc, char **argv)
{
	long sum = 0;
	for (long i = 0; i < atol(argv[1]); i++)
		sum += work(i);
	return sum == 0;
}
