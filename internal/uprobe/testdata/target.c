// A program that calls functions as it is told to: each line it reads is a
// word and a number.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long sink;
volatile unsigned short semaphore __attribute__((section(".probes")));

__attribute__((noinline)) void work(void) { sink++; }

// The second instruction is locked, the third has a segment prefix.
__asm__(".globl refused\n.type refused, @function\nrefused:\n"
	"xor %eax, %eax\n"
	"lock incl lock_word(%rip)\n"
	".byte 0x3e\n mov lock_word(%rip), %ecx\n"
	"ret\n"
	".size refused, . - refused\n"
	".data\n.globl lock_word\nlock_word: .long 0\n.text\n");
extern void refused(void);

static void *thread(void *n)
{
	for (long i = 0; i < (long)n; i++)
		work();
	return NULL;
}

int main(void)
{
	char word[32];
	long n;
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("ready\n");
	while (scanf("%31s %ld", word, &n) == 2) {
		if (!strcmp(word, "work")) {
			thread((void *)n);
		} else if (!strcmp(word, "threads")) {
			pthread_t t[4];
			for (int i = 0; i < 4; i++)
				pthread_create(&t[i], NULL, thread, (void *)n);
			for (int i = 0; i < 4; i++)
				pthread_join(t[i], NULL);
		} else if (!strcmp(word, "fork")) {
			pid_t child = fork();
			if (child == 0) {
				thread((void *)n);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		} else if (!strcmp(word, "refused")) {
			for (long i = 0; i < n; i++)
				refused();
		} else if (!strcmp(word, "semaphore")) {
			printf("%d\n", semaphore);
			continue;
		}
		printf("done\n");
	}
	return 0;
}
