# action numbers count from 1, faults are DTrace's: 1 bad address, 3 illegal operation, 4 division by zero, 5 no scratch space
BEGIN { trace(1); trace(1 / arg4); trace(2); }
= fault:2:4:0x0

BEGIN { trace(1 / arg4); } BEGIN { trace(2); }
= fault:1:4:0x0 2

BEGIN /1 / arg4/ { trace(1); } BEGIN { trace(3); }
= fault:0:4:0x0 3

BEGIN { trace(*(int *)arg4); }
= fault:1:1:0x0

BEGIN { trace(*(int *)8); } BEGIN { trace(stringof((char *)16)); }
= fault:1:1:0x8 fault:1:1:0x10

BEGIN { x = 5; x = 1 % arg4; } BEGIN { trace(x); }
= fault:2:4:0x0 5

BEGIN { trace(copyinstr(8)); } BEGIN { trace(stringof(copyin(16, 4))); }
= fault:1:1:0x8 fault:1:1:0x10

BEGIN { self->s = "x"; self->s = 0; trace(self->s); } BEGIN { trace(1); }
= fault:3:1:0x0 1

string a[int]; BEGIN { trace(a[1]); }
= fault:1:1:0x0

BEGIN { @[1 / arg4] = count(); @ok = count(); } BEGIN { @ok = count(); }
= fault:1:4:0x0 @ok[]=0:1

BEGIN { this->p = (char *)alloca(8); this->p[0] = 'x'; this->p = (char *)4096; *this->p = 1; }
= fault:4:1:0x1000

BEGIN { this->p = (char *)arg0; *this->p = 1; }
= fault:2:1:0x64

int a[4]; BEGIN { this->i = (int)arg0; a[this->i] = 1; } BEGIN { trace(a[3]); }
= fault:2:1:kernel 0

struct s { int a[4]; }; struct s v[int]; BEGIN { this->i = (int)arg0; trace(v[1].a[this->i]); } BEGIN { self->v = v[1]; trace(self->v.a[this->i]); }
= fault:2:1:0x190 fault:2:1:kernel

BEGIN { this->n = arg0 * 1000; this->p = alloca(this->n); }
= fault:2:5:0x0

BEGIN { trace(lltostr(5, 1)); } BEGIN { trace(lltostr(5, 37)); } BEGIN { trace(inet_ntop(3, alloca(16))); }
= fault:1:3:0x0 fault:1:3:0x0 fault:1:3:0x0

BEGIN { if (arg0 == 100) { trace(1 / arg4); } trace(2); }
= fault:2:4:0x0

BEGIN { trace(1); if (arg0 == 100) { trace(2); } trace(1 / arg4); }
= 1 2 fault:4:4:0x0

struct s { int a; int b; }; BEGIN { trace(((struct s *)arg4)->b); }
= fault:1:1:0x4

BEGIN { tracemem(arg4, 16); }
= fault:1:1:0x0

BEGIN { chill(600000000); }
= fault:1:3:0x0
