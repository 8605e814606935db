// A program that loads a library or executes a program when it is told to:
// opens HOW COUNT FILE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char **args;

// Loads the library and calls it.
static void *load(void *keep)
{
	void *library = dlopen(args[3], RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	long (*plug)(long) = (long (*)(long))dlsym(library, "plug");
	for (long i = 0; i < atol(args[2]); i++)
		plug(i);
	if (keep == NULL)
		dlclose(library);
	return (void *)plug;
}

static void *execute(void *unused)
{
	execl(args[3], args[3], "add", args[2], NULL);
	exit(1);
	return unused;
}

static void in_thread(void *(*f)(void *))
{
	pthread_t t;
	pthread_create(&t, NULL, f, "keep");
	pthread_join(t, NULL);
}

static void interrupted(int signal)
{
	_exit(30 + signal);
}

int main(int argc, char **argv)
{
	char byte;
	const char *how = argv[1];
	args = argv;
	if (!strncmp(how, "wait-", 5)) {
		puts("ready");
		fflush(stdout);
		if (read(0, &byte, 1) != 1)
			return 1;
		how += 5;
	}
	if (!strcmp(how, "load")) {
		load("keep");
	} else if (!strcmp(how, "thread")) {
		in_thread(load);
	} else if (!strcmp(how, "fork")) {
		int status;
		if (fork() == 0) {
			load("keep");
			_exit(0);
		}
		wait(&status);
		load("keep");
		return status != 0;
	} else if (!strcmp(how, "again")) { // where it was
		void *first = load(NULL);
		return load(NULL) != first;
	} else if (!strcmp(how, "elsewhere")) {
		char *first = load(NULL);
		mmap(first - (long)first % 4096, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		return load(NULL) == first;
	} else if (!strcmp(how, "namespace")) { // twice at once
		long (*first)(long) = (long (*)(long))load("keep");
		void *library = dlmopen(LM_ID_NEWLM, args[3], RTLD_NOW);
		long (*second)(long) = (long (*)(long))dlsym(library, "plug");
		for (long i = 0; i < atol(args[2]); i++)
			first(second(i));
		return first == second;
	} else if (!strcmp(how, "execute")) {
		in_thread(execute);
	} else if (!strcmp(how, "handle")) {
		signal(SIGINT, interrupted);
		puts("handles");
		fflush(stdout);
		for (;;)
			pause();
	} else if (!strcmp(how, "pause")) {
		for (;;)
			pause();
	}
	return 0;
}
