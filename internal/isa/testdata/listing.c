/*
 * A function such as the kernel has: per-CPU data, retpolines and return
 * thunks, a call that does not return, padding.
 *
 * listing.att and listing.intel are made from it:
 *
 *	gcc -O2 -fcf-protection=branch -mindirect-branch=thunk-extern \
 *	    -mfunction-return=thunk-extern -mindirect-branch-cs-prefix \
 *	    -mharden-sls=all -mcmodel=kernel -fno-pie -fno-pic \
 *	    -fno-asynchronous-unwind-tables -mno-sse -pg -mfentry \
 *	    -c listing.c -o listing.o
 *	ld -Ttext=0xffffffff81000000 --defsym __fentry__=0xffffffff81002000 \
 *	    --defsym __x86_return_thunk=0xffffffff81002010 \
 *	    --defsym __x86_indirect_thunk_rax=0xffffffff81002020 \
 *	    --defsym __x86_indirect_thunk_rdx=0xffffffff81002030 \
 *	    --defsym panic=0xffffffff81002040 --defsym current_task=0x1fc00 \
 *	    -e walk listing.o -o listing.elf
 *	objdump -d -w -j .text -M att listing.elf >listing.att
 *	objdump -d -w -j .text -M intel listing.elf >listing.intel
 */
extern __seg_gs unsigned long current_task;
extern void panic(const char *) __attribute__((noreturn));

struct node {
	struct node *next;
	int kind;
	unsigned short bits;
	signed char level;
	long (*visit)(struct node *, long);
};

unsigned long seen;

static inline unsigned long flags_save(void)
{
	unsigned long f;

	asm volatile("pushfq; popq %0; cli" : "=r"(f) : : "memory");
	return f;
}

long walk(struct node *n, long sum)
{
	unsigned long f = flags_save();
	unsigned long *task = (unsigned long *)current_task;

	for (; n; n = n->next) {
		switch (n->kind) {
		case 0: sum += n->bits; break;
		case 1: sum -= n->level; break;
		case 2: sum *= 10; break;
		case 3: sum /= (long)task[3]; break;
		case 4: sum = n->visit(n, sum); break;
		case 5: __atomic_fetch_add(&seen, sum, __ATOMIC_SEQ_CST); break;
		case 6: asm volatile("rep stosb" : : "D"(n), "c"(8), "a"(0) : "memory"); break;
		case 7: asm volatile("ud2"); break;
		case 8: sum = __builtin_bswap64(sum) << (n->bits & 63); break;
		default: panic("kind");
		}
	}
	asm volatile("pushq %0; popfq" : : "r"(f) : "memory");
	return sum;
}

long last(struct node *n)
{
	return walk(n, 0);
}
