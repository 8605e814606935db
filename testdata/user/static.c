// Static probes as <sys/sdt.h> makes them, with every kind of operand.
#define NOTE(provider, name, semaphore, args) \
	"990: nop\n" \
	".pushsection .note.stapsdt,\"\",\"note\"\n" \
	".balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n" \
	"993: .8byte 990b\n" \
	".8byte _.stapsdt.base\n" \
	".8byte " semaphore "\n" \
	".asciz \"" provider "\"\n" \
	".asciz \"" name "\"\n" \
	".asciz \"" args "\"\n" \
	"994: .balign 4\n" \
	".popsection\n"

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n");

volatile unsigned short enabled __attribute__((section(".probes")));
long counter = 70;
int results[2];

__attribute__((noinline)) void step(int a, long b, short *c, unsigned char d, const char *text)
{
	results[1] += text[0]; // a probe cannot read memory that has not been loaded
	__asm__ volatile(NOTE("demo", "step__taken", "enabled",
			      "-4@%0 -8@%1 -2@%2 1@%b3 8@%4 -4@$-3 -8@counter(%%rip) -2@2(%5,%6,2)")
			 : : "r"(a), "r"(b), "m"(*c), "r"((int)d), "r"(text), "r"(c), "r"((long)a) : "memory");
	if (enabled)
		results[0]++;
	counter++;
}

// Two sites of one probe.
__attribute__((noinline)) void twice(long n)
{
	__asm__ volatile(NOTE("demo", "twice", "0", "-8@%0") : : "D"(n));
	__asm__ volatile(NOTE("demo", "twice", "0", "-8@%0") : : "D"(n));
}

int main(void)
{
	short numbers[] = {5, -6, 7, -8, 9, -10};
	for (int i = 0; i < 3; i++) {
		step(i, 1L << 40, numbers + i, 200 + i, "text");
		twice(i);
	}
	return results[0] == 3 ? 0 : 1;
}
