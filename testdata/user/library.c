// A library with a constructor.
int constructed;

__attribute__((noinline)) void construct(int n) { constructed += n; }

__attribute__((constructor)) static void initialise(void) { construct(42); }

int library(void) { return constructed; }
