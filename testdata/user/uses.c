// A program that needs library.c.
int library(void);
int main(void) { return library() != 42; }
