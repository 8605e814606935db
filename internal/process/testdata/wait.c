/* Prints where two functions and one of libc's are, and waits for its input to end. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int local_function(int x) { return x * 3 + 1; }
__attribute__((noinline)) int global_function(int x) { return local_function(x) + 2; }

int main(void)
{
	printf("%p local_function\n%p global_function\n%p getenv\n", (void *)local_function,
	       (void *)global_function, (void *)getenv);
	fflush(stdout);
	return getchar() == EOF ? 0 : global_function(1);
}
