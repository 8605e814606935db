/*
 * Prints where two functions and one of libc's are, and waits for its input to
 * end. With an argument, a child has come and gone before, whose number comes
 * first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int local_function(int x) { return x * 3 + 1; }
__attribute__((noinline)) int global_function(int x) { return local_function(x) + 2; }

int main(int argc, char **argv)
{
	if (argc > 1) {
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
		printf("%d child\n", child);
	}
	printf("%p local_function\n%p global_function\n%p getenv\n", (void *)local_function,
	       (void *)global_function, (void *)getenv);
	fflush(stdout);
	return getchar() == EOF ? 0 : global_function(argv[0][0]);
}
