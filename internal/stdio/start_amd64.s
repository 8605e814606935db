#include "textflag.h"

// Start is where the process begins if the linker is told so (-E). It asks the
// kernel, by fcntl(1, F_GETFD), whether there is a standard output, and goes on
// where every Go program begins. R12 to R15, RBX and RBP are left alone, and so
// is the stack, which has the arguments.
TEXT ·Start(SB),NOSPLIT|NOFRAME,$0
	MOVL $72, AX // fcntl
	MOVL $1, DI
	MOVL $1, SI // F_GETFD
	SYSCALL
	MOVQ AX, ·flags(SB)
	JMP  _rt0_amd64_linux(SB)
