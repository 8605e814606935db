package syntax

import "strings"

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// keywords are D's reserved words. Like libdtrace, D reserves the words of C
// that it has no use for.
var keywords = words(`
	auto break case char const continue counter default do double else enum
	extern float for goto if import inline int long offsetof probe provider
	register restrict return self short signed sizeof static string stringof
	struct switch this translator typedef union unsigned void volatile while
	xlate`)

// declKeywords begin a declaration outside clauses, where every other word is
// a probe description or a type's name.
var declKeywords = words(`
	auto char const counter double enum extern float import inline int long
	provider register restrict self short signed static string struct this
	translator typedef union unsigned void volatile`)

// memberKeywords are D's own words, which C programs use as names.
var memberKeywords = words(`
	counter import inline offsetof probe provider self string stringof this
	translator xlate`)

var (
	typeWords      = words("void char short int long float double signed unsigned string")
	typeQualifiers = words("const restrict volatile")
	storageClasses = words("auto register static extern typedef self this")
	tagWords       = words("struct union enum")
)

// baseTypes are the type names that D programs use without a header: they are
// types whatever the kernel's type information says.
var baseTypes = words(`
	int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
	intptr_t uintptr_t size_t ssize_t off_t pid_t uid_t gid_t dev_t time_t
	uchar_t ushort_t uint_t ulong_t longlong_t u_longlong_t hrtime_t
	u_char u_short u_int u_long uchar ushort uint ulong
	u8 u16 u32 u64 s8 s16 s32 s64
	__u8 __u16 __u32 __u64 __s8 __s16 __s32 __s64`)

// builtins are D's variables: no types, whatever the kernel calls its own.
var builtins = words(`
	arg0 arg1 arg2 arg3 arg4 arg5 arg6 arg7 arg8 arg9 args caller ucaller
	cpu curcpu curthread curpsinfo curlwpsinfo cwd epid errno execargs
	execname gid id ipl pid ppid probefunc probemod probename probeprov regs
	uregs stackdepth ustackdepth tid timestamp uid vtimestamp walltimestamp`)
