typedef int a_t; typedef a_t b_t; typedef b_t *c_t; typedef struct { c_t p; b_t v[3]; } d_t; d_t g; BEGIN { g.v[1] = 5; trace(g.v[1]); trace(sizeof (d_t)); trace(sizeof (g.v)); trace(sizeof (g.p)); trace(g.p == NULL); trace(sizeof (c_t)); }
= 5 24 12 8 1 8

typedef int (*handler_t)(void *, int); struct ops { handler_t open; void (*close)(void); }; struct ops o; BEGIN { trace(sizeof (struct ops)); trace(offsetof(struct ops, close)); trace(o.open == NULL); o.close = (void (*)(void))16; trace(o.close != NULL); trace((long)o.close); }
= 16 8 1 1 16

struct in { char c; short s; }; struct out { char c; struct in i[3]; union { long l; char b; } u; }; BEGIN { trace(sizeof (struct out)); trace(offsetof(struct out, i)); trace(offsetof(struct out, u)); trace(sizeof (struct in)); trace(offsetof(struct in, s)); }
= 24 2 16 4 2

struct b { unsigned lo : 4; unsigned hi : 4; int s : 7; long w : 33; }; struct b v; BEGIN { v.lo = 15; v.hi = 9; v.s = 63; v.w = 1l << 31; v.lo += 2; v.hi <<= 1; v.s++; trace(v.lo); trace(v.hi); trace(v.s); trace(v.w); v.w *= 2; trace(v.w); trace(v.lo-- + v.lo); trace(sizeof (struct b)); }
= 1 2 -64 2147483648 -4294967296 1 8

struct b { unsigned long a : 1; unsigned long b : 63; }; struct b v; BEGIN { v.b = (1ul << 63) - 1; trace(v.a); trace(v.b); v.a = 3; v.b++; trace(v.a); trace(v.b); }
= 0 9223372036854775807 1 0

struct p { int x; int y; }; struct p a; struct p b; BEGIN { a.x = 1; a.y = 2; b = a; a.x = 9; trace(b.x + b.y); trace(a.x); c = b; c.x++; trace(c.x); trace(b.x); this->d = arg0 == 100 ? a : b; trace(this->d.x); a = b = c; trace(a.x); trace(b.x); }
= 3 9 2 1 9 2 2

enum flag { A = 1, B = 2, C = 4, D = A | B | C, E = 1 << 10, F = -1, G }; BEGIN { trace(D); trace(E); trace(F); trace(G); trace(A | C); trace(sizeof (enum flag)); this->f = (enum flag)2; trace(this->f == B); trace(this->f << 2); }
= 7 1024 -1 0 5 4 1 8

BEGIN { trace(sizeof (1 + 1l)); trace(sizeof ((char)1)); trace(sizeof ((char)1 + 1)); trace(sizeof (arg0)); trace(sizeof (pid)); trace(sizeof (timestamp)); trace(sizeof (probename)); trace(sizeof ("abc")); trace(sizeof (execname)); trace(sizeof (string)); }
= 8 1 4 8 4 8 256 4 256 256

BEGIN { x = 1; trace(sizeof (x++)); trace(x); trace(sizeof x); trace(sizeof (int[4])); trace(sizeof (struct task_struct *)); trace(sizeof (uint8_t)); trace(sizeof (size_t)); trace(sizeof (long double)); trace(sizeof (void *)); }
= 4 1 4 16 8 1 8 16 8

BEGIN { trace((int8_t)0x80); trace((uint8_t)0x180); trace((int16_t)0x8000); trace((uint32_t)-1); trace((int64_t)-1); trace((_Bool)256); trace((char)'\377'); trace((unsigned char)'\377'); }
= -128 128 -32768 4294967295 -1 1 -1 255

BEGIN { this->c = (char)100; this->d = (char)100; trace(this->c + this->d); trace((char)(this->c + this->d)); trace(this->c * this->d); this->u = (unsigned char)200; trace(this->u + this->c); trace(~this->u); trace(-this->u); trace(this->u << 8); trace(!this->u); }
= 200 -56 10000 300 -201 -200 51200 0

BEGIN { this->i = 5; this->u = 5u; trace(this->i - 6 < 0); trace(this->u - 6 < 0); trace(this->u - 6 > 0); trace(-1 > this->u); trace((long)this->u - 6 < 0); trace(this->i * -1 < this->u); }
= 1 0 1 1 1 0

struct pair { int a; string b; }; translator struct pair < struct task_struct *T > { a = T->tgid; b = stringof(T->comm); }; BEGIN { trace(xlate <struct pair *> (curthread)->b == execname); trace(xlate <struct pair *> (curthread)->a == pid); }
= 1 1

struct pair { int a; int b; }; translator struct pair < int X > { a = X / 2; b = X % 2; }; inline struct pair halves[int v] = xlate <struct pair> (v); BEGIN { trace(halves[9].a); trace(halves[9].b); }
= 4 1

BEGIN { trace(curpsinfo->pr_fname == execname); trace(curpsinfo->pr_pid == pid); trace(curlwpsinfo->pr_pri > 0); trace(curcpu->cpu_id == cpu); trace(curpsinfo->pr_euid); trace(strlen(curpsinfo->pr_psargs) > 0); }
= 1 1 1 1 0 1

union u { uint64_t l; uint8_t b[8]; struct { uint32_t lo; uint32_t hi; } w; }; union u v; BEGIN { v.l = 0x1122334455667788; trace(v.b[0]); trace(v.b[7]); trace(v.w.lo == 0x55667788); trace(v.w.hi); v.w.hi = 0; trace(v.l); this->i = 3; v.b[this->i] = 0xff; trace(v.w.lo); }
= 136 17 1 287454020 1432778632 4284905352

inline int debug = 0; inline string tag = "t:"; inline int limit = debug ? 10 : 20; BEGIN { trace(limit); trace(strjoin(tag, "x")); if (debug) { trace(1 / arg4); } trace(debug ? "debug" : "plain"); }
= 20 "t:x" "plain"

BEGIN { this->s = "clause"; } BEGIN { trace(this->s); this->s = strjoin(this->s, "-local"); } BEGIN { trace(this->s); trace(strlen(this->s)); }
= "clause" "clause-local" 12

extern int total; self int depth; this long scratch; string names[int, string]; BEGIN { total++; self->depth = 2; this->scratch = 1l << 40; names[1, "a"] = "b"; trace(total); trace(self->depth); trace(this->scratch); trace(names[1, "a"]); }
= 1 2 1099511627776 "b"

struct p { int x; int y[2]; }; struct p a; struct p b; BEGIN { a.x = 1; a.y[1] = 2; b.x = 3; b.y[1] = 4; trace((arg0 ? a : b).x); trace((arg4 ? a : b).y[1]); trace((x = 5, b).x); trace((a = b).x); trace(a.y[1]); this->i = 1; trace((arg0 ? a : b).y[this->i]); trace((this->i++, a).x); trace(this->i); }
= 1 4 3 3 4 4 3 2

struct p { int x; int y; }; struct q { int s; int d; }; struct p a; translator struct q < struct p P > { s = P.x + P.y; d = P.x - P.y; }; BEGIN { a.x = 5; a.y = 3; trace(xlate <struct q> (a).s); this->q = xlate <struct q> (a); trace(this->q.d); trace(xlate <struct q> (a)); }
= 8 2 {s=8,d=2}

struct p { int x; int y; }; struct p a; struct p b; BEGIN { a.x = 5; print(arg0 ? a : b); trace(arg4 ? a : b); @[arg0 ? a : b] = count(); m[a] = 7; trace(m[arg0 ? a : b]); trace(m[b]); this->l = (x = 1, a); trace(this->l); }
= print({x=5,y=0}) {x=0,y=0} 7 0 {x=5,y=0} @[{x=5,y=0}]=0:1

struct p { int x; string s; }; struct p a; BEGIN { a.s = "hi"; this->b = a; trace(this->b.s); trace(a.s == this->b.s); trace(strlen((arg0 ? a : this->b).s)); trace(strjoin(a.s, (x = 1, a).s)); a.s = strjoin(a.s, "!"); trace(a.s); trace(this->b.s); }
= "hi" 1 2 "hihi" "hi!" "hi"

struct p { int x; int y; }; struct p a; inline int total[struct p v] = v.x + v.y; BEGIN { a.x = 5; a.y = 3; trace(total[a]); }
= 8

struct p { int x; int y; }; BEGIN { m[1] = *(struct p *)alloca(8); m[1].x = 4; n = m[1]; trace(n.x); trace((m[1]).x); trace((n = m[1]).x); self->p = n; trace(self->p.x); self->p.x++; trace(self->p); }
= 4 4 4 4 {x=5,y=0}

BEGIN { trace((arg0 ? "abc" : "d") == "abc"); s = (x = 1, "k"); trace(s); trace(strlen((s = "four"))); trace((s = "q") == s); a[(arg0 ? "u" : "v")] = 1; trace(a["u"]); @[(arg4 ? "u" : "v"), (x = 2)] = count(); }
= 1 "k" 4 1 1 @["v",2]=0:1

struct p { char n[4]; int y[2]; }; struct p a; BEGIN { a.n[0] = 'z'; trace(stringof((arg0 ? a : a).n)); trace((arg0 ? a : a).n == "z"); trace(*(arg0 ? a : a).y); trace(a); this->s = stringof(a.n); trace(this->s); }
= "z" 1 0 {n=[122,0,0,0],y=[0,0]} "z"

struct b { int f : 3; int g : 5; }; struct b a; struct b c; BEGIN { a.f = -2; c.g = 7; trace((arg0 ? a : c).f); trace((a = c).g); trace((x = 1, a).f); trace(a.f++ + ++a.f); trace(a.f); }
= -2 7 0 2 2

BEGIN { trace((1 ? curthread : NULL)->pid == tid); trace((x = curthread)->pid == tid); trace((y = 1, curthread)->pid == tid); trace((*curthread).pid == tid); trace((&*curthread)->pid == tid); }
= 1 1 1 1 1

union u { int i; char c[4]; }; union u a; BEGIN { a.i = 0x41424344; trace((arg0 ? a : a).c[1]); this->n = 2; trace((arg0 ? a : a).c[this->n]); trace(&a.c[1] - &a.c[0]); trace(a.c + 1 == &a.c[1]); }
= 67 66 1 1

BEGIN { this->a = curthread->real_parent->cred->uid; trace(this->a.val == curthread->real_parent->cred->uid.val); x = *curthread->cred; trace(x.uid.val); trace((arg0 ? *curthread->cred : x).gid.val); }
= 1 0 0

BEGIN { curcpu; (curcpu); *curcpu; this->c = *curcpu; trace(this->c.cpu_id == cpu); trace((*curcpu).cpu_id == cpu); trace(sizeof(*curcpu)); }
= 1 1 12

BEGIN { trace(sizeof (psinfo_t) == sizeof (*curpsinfo)); trace(sizeof (cpuinfo_t)); trace(((psinfo_t *)0) == NULL); this->a = (ipaddr_t *)alloca(4); *this->a = htonl(0x7f000001); trace(inet_ntoa(this->a)); }
= 1 12 1 "127.0.0.1"

struct out { int a; }; translator struct out < char *X > { a = strlen(X); }; translator struct out < int X > { a = X; }; translator struct out < long long X > { a = X + 1; }; BEGIN { trace(xlate <struct out> ((short)6).a); trace(xlate <struct out> ("abcd").a); trace(xlate <struct out> ((char *)curthread->comm).a == strlen(curthread->comm)); trace(xlate <struct out> (6ll).a); }
= 6 4 1 7

struct out { int a; }; struct out o; translator struct out < int X > { a = X; }; BEGIN { this->o = arg0 ? xlate <struct out> (5) : o; trace(this->o.a); this->o = arg4 ? xlate <struct out> (5) : xlate <struct out> (arg0); trace(this->o.a); }
= 5 100
