// A library to be loaded later: its constructor calls one of its functions twice.
volatile long sum;

__attribute__((noinline, noclone)) long plug(long n)
{
	__asm__ volatile("" : "+r"(n));
	return sum += n;
}

__attribute__((constructor)) static void begin(void)
{
	plug(1);
	plug(2);
}
