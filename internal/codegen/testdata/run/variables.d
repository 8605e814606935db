BEGIN { x = 1; y = 2; } BEGIN { trace(x + y); x = y; trace(x); }
= 3 2

int x; long y; char z; BEGIN { trace(x); trace(y); trace(z); x = -1; y = x; z = y; trace(y); trace(z); }
= 0 0 0 -1 -1

BEGIN { this->a = 3; this->b = this->a * 2; trace(this->b); } BEGIN { trace(this->a); this->a++; } BEGIN { trace(this->a); }
= 6 3 4

this int a; BEGIN { trace(this->a); }
= 0

BEGIN { self->a = 1; self->b = -5; trace(self->a); trace(self->b); self->a = 0; trace(self->a); trace(self->b); self->b = 0; trace(self->b); }
= 1 -5 0 -5 0

self int t; BEGIN { trace(self->t); self->t = 7; self->t++; trace(self->t); self->t -= 8; trace(self->t); trace(self->t++); trace(self->t); }
= 0 8 0 0 1

self char c; self unsigned short s; BEGIN { self->c = 300; trace(self->c); self->s = -1; trace(self->s); self->s++; trace(self->s); }
= 44 65535 0

BEGIN { a[1] = 10; a[2] = 20; trace(a[1]); trace(a[2]); trace(a[3]); a[1] = 0; trace(a[1]); a[2]++; trace(a[2]); a[9]++; trace(a[9]); trace(a[9]--); trace(a[9]); }
= 10 20 0 0 21 1 1 0

BEGIN { a["x", 1] = 1; a["x", 2] = 2; a["y", 1] = 3; trace(a["x", 1] + a["x", 2] * 10 + a["y", 1] * 100); trace(a["y", 2]); s = "x"; trace(a[s, 2]); }
= 321 0 2

BEGIN { a[-1] = 1; trace(a[-1]); trace(a[0xffffffff]); a[1ul] = 5; trace(a[1]); }
= 1 1 5

long a[long, char]; BEGIN { a[arg2, 'x'] = 5; trace(a[arg2, 'x']); trace(a[arg2, 'y']); trace(a[arg2 + 1, 'x']); }
= 5 0 0

self int a[string]; BEGIN { self->a["k"] = 4; trace(self->a["k"]); self->a["k"] = 0; trace(self->a["k"]); self->b[1, "q"] = 6; trace(self->b[1, "q"]); }
= 4 0 6

string a[string]; BEGIN { a["k"] = "v"; trace(a["k"]); a["longer key"] = "w"; trace(a["longer key"]); trace(a["k"]); }
= "v" "w" "v"

BEGIN { a[execname] = 1; trace(a[execname]); trace(a["nobody"]); b[probename, pid] = 2; trace(b["BEGIN", pid]); }
= 1 0 2

int a[5]; BEGIN { a[0] = 1; a[4] = 5; this->i = 3; a[this->i] = 4; trace(a[0]); trace(a[4]); trace(a[this->i]); a[this->i]++; trace(a[3]); trace(a[1]); trace(sizeof (a)); }
= 1 5 4 5 0 20

long a[3]; BEGIN { this->i = 1; a[this->i + 1] = -1; trace(a[2]); trace(a); }
= -1 [0,0,-1]

this int a[4]; BEGIN { this->a[2] = 9; this->i = 2; trace(this->a[this->i]); trace(this->a[0]); } BEGIN { trace(this->a[2]); }
= 9 0 9

int m[2][3]; BEGIN { m[1][2] = 5; this->i = 1; this->j = 2; trace(m[this->i][this->j]); m[this->i][0] = 7; trace(m[1][0]); trace(m[0][2]); trace(sizeof (m)); }
= 5 7 0 24

struct p { int x; long y; char n[4]; }; struct p g; BEGIN { g.x = 1; g.y = -2; g.n[0] = 'a'; trace(g.x); trace(g.y); trace(g.n[0]); trace(g); h = g; trace(h.y); h.y = 5; trace(g.y); }
= 1 -2 97 {x=1,y=-2,n=[97,0,0,0]} -2 -2

struct p { int x; int y; }; this struct p t; BEGIN { this->t.x = 3; this->t.y = this->t.x + 1; trace(this->t); this->u = this->t; trace(this->u.y); }
= {x=3,y=4} 4

struct p { int x; int y; }; struct p a[int]; BEGIN { a[1].x = 5; a[1].y = 6; trace(a[1].x); trace(a[1]); trace(a[2]); this->q = a[1]; a[2] = this->q; trace(a[2].y); a[2].x++; trace(a[2].x); trace(a[1].x); }
= 5 {x=5,y=6} {x=0,y=0} 6 6 5

struct p { int x; int y; }; self struct p s; BEGIN { self->s.y = 4; trace(self->s.x); trace(self->s.y); self->s.y += 3; trace(self->s); }
= 0 4 {x=0,y=7}

struct in { int a; int b; }; struct out { long l; struct in i[2]; }; struct out o; BEGIN { o.i[1].b = 8; this->n = 1; trace(o.i[this->n].b); o.i[this->n].a = 3; trace(o); }
= 8 {l=0,i=[{a=0,b=0},{a=3,b=8}]}

struct b { int a : 3; unsigned b : 5; unsigned c : 24; }; struct b g; BEGIN { g.a = 3; trace(g.a); g.a = 4; trace(g.a); g.b = 31; g.c = 0xabcdef; trace(g.b); trace(g.c); g.b++; trace(g.b); trace(g.c); trace(g.a); }
= 3 -4 31 11259375 0 11259375 -4

union u { int i; char c[4]; }; union u v; BEGIN { v.i = 0x01020304; trace(v.c[0]); trace(v.c[3]); v.c[0] = 9; trace(v.i); }
= 4 1 16909065

BEGIN { this->p = (int *)alloca(16); this->p[0] = 1; this->p[3] = 4; *this->p += 5; trace(*this->p); trace(this->p[3]); trace(this->p[1]); trace(*(this->p + 3)); this->q = this->p + 3; trace(this->q - this->p); trace(this->q > this->p); }
= 6 4 0 4 3 1

BEGIN { this->p = (char *)alloca(10); this->q = (char *)alloca(10); this->p[0] = 'a'; this->p[1] = 'b'; bcopy(this->p, this->q, 2); trace(stringof(this->q)); this->q++; trace(*this->q); this->p += 1; trace(*this->p); }
= "ab" 98 98

struct s { int a; int b; }; BEGIN { this->s = (struct s *)alloca(sizeof (struct s)); this->s->a = 1; this->s->b = 2; trace(this->s->a + this->s->b); trace(*this->s); this->s->a++; trace(this->s->a); }
= 3 {a=1,b=2} 2

BEGIN { trace(ntohs(0x1234)); trace(htons(0x1234)); trace(ntohl(0x12345678)); trace(htonl(1)); trace(ntohll(1)); trace(htonll(0x0102030405060708)); }
= 13330 13330 2018915346 16777216 72057594037927936 578437695752307201

BEGIN { trace(getmajor(0x800005)); trace(getminor(0x800005)); }
= 8 5

BEGIN { x++; trace(x); ++y; trace(y); z--; trace(z); }
= 1 1 -1

BEGIN /x++ == 0/ { trace(x); } BEGIN /x++ == 0/ { trace(99); } BEGIN { trace(x); }
= 1 2

BEGIN /arg0 == 100/ { trace(1); } BEGIN /arg0 != 100/ { trace(2); } BEGIN /arg4/ { trace(3); } BEGIN /!arg4 && arg0/ { trace(4); }
= 1 4

BEGIN { }
= default()

BEGIN { x = 1; }
= 

BEGIN /arg4/ { }
= 

BEGIN { exit(3); trace(1); } BEGIN { trace(2); }
= exit(3) 1

BEGIN { if (arg0 == 100) { trace(1); } else { trace(2); } if (arg0 == 1) { trace(3); } else { trace(4); } }
= 1 4

BEGIN { if (arg0 > 50) { if (arg0 > 90) { trace("hi"); } else { trace("mid"); } x = 1; } else { x = 2; } trace(x); }
= "hi" 1

BEGIN { if (arg0) trace(1); else trace(2); if (!arg0) { } else if (arg1 == -1) trace(3); else trace(4); trace(5); }
= 1 3 5

BEGIN { if (arg0) { exit(1); } trace(1); } BEGIN { trace(2); }
= exit(1)

BEGIN { printf("%d %s %x", 1, "two", 3); printf("no arguments"); }
= 1,"two",3 

BEGIN { printf("%*d|%.*s", 5, 42, 3, "abcdef"); }
= 5,42,3,"abcdef"

this char *p; BEGIN { tracemem(this->p, 4); this->p = (char *)alloca(4); } BEGIN { this->p = (char *)alloca(4); this->p[1] = 0x7f; tracemem(this->p, 4); tracemem(this->p, 4, 2); }
= fault:1:1:0x0 tracemem(007f0000) tracemem(007f0000,2)

BEGIN { setopt("quiet"); setopt("bufsize", "4m"); ftruncate(); system("echo %d", 5); freopen("/tmp/x%d", 1); freopen(""); }
= setopt("quiet") setopt("bufsize","4m") ftruncate() system(5) freopen(1) freopen()

BEGIN { @a = count(); clear(@a); trunc(@a); trunc(@a, 5); normalize(@a, 10); denormalize(@a); printa(@a); printa("%@d\n", @a); }
= clear() trunc() trunc(5) normalize(10) denormalize() printa() printa() @a[]=0:1

BEGIN { this->s = speculation(); trace(this->s); trace(speculation()); } BEGIN { speculate(this->s); trace(7); } BEGIN { commit(this->s); this->s = 0; } BEGIN { trace(speculation()); }
= 1 0 speculate(1) 7 commit(1) 1

BEGIN { speculate(0); trace(1); } BEGIN { speculate(5); trace(2); } BEGIN { discard(5); trace(3); } BEGIN { commit(0); } 
= discard(0) 3 commit(0)

BEGIN { this->s = speculation(); speculate(this->s); if (arg0) { trace(1); } trace(2); } BEGIN { trace(3); discard(this->s); }
= speculate(1) speculate(1) 1 speculate(1) 2 3 discard(1)

struct foo { int a; string s; }; translator struct foo < int X > { a = X * 2; s = X > 5 ? "big" : "small"; }; BEGIN { trace(xlate <struct foo> (3).a); trace(xlate <struct foo> ((int)arg0).s); x = 1; trace(xlate <struct foo> (x++).a); trace(x); }
= 6 "big" 2 2

struct foo { int a; int b; }; translator struct foo < int X > { a = X; b = X + 1; }; BEGIN { this->f = xlate <struct foo> (7); trace(this->f); trace(this->f.b); }
= {a=7,b=8} 8

BEGIN { trace(EPERM); trace(EINVAL); trace(SIGKILL); trace(SIGINT); trace(DTRACEFLT_DIVZERO); trace(NULL == 0); }
= 1 22 9 2 4 1

BEGIN { trace(id); trace(epid); } BEGIN { trace(epid); trace(uid); trace(gid); }
= 1 1 2 0 0

BEGIN { trace(timestamp == timestamp); this->t = timestamp; } BEGIN { trace(timestamp == this->t); trace(walltimestamp > 1700000000000000000); trace(timestamp < walltimestamp); }
= 1 1 1 1

BEGIN { trace(pid == tid || pid != tid); trace(pid > 0); trace(ppid > 0); trace(cpu == curcpu->cpu_id); trace(curthread->pid == tid); trace(curthread->tgid == pid); trace(stringof(curthread->comm) == execname); trace(curthread->comm == execname); }
= 1 1 1 1 1 1 1 1

BEGIN { trace(curpsinfo->pr_pid == pid); trace(curpsinfo->pr_ppid == ppid); trace(curlwpsinfo->pr_lwpid == tid); trace(curlwpsinfo->pr_sname == 'R'); trace(curpsinfo->pr_uid); trace(progenyof(ppid)); trace(progenyof(pid)); trace(progenyof(-1)); trace(vtimestamp > 0); }
= 1 1 1 1 0 1 1 0 1

BEGIN { trace(strlen(execargs) > 0); trace(curpsinfo->pr_psargs == execargs); trace(stackdepth > 0); trace(ustackdepth > 0); }
= 1 1 1 1
