BEGIN { print(curthread->cred->euid); this->c = *curthread->cred; print(this->c.fsuid); }
= print({val=0}) print({val=0})

BEGIN { print(curthread->fs->users > 0); print(curthread->real_cred == curthread->cred); print(curthread->comm == execname); }
= print(1) print(1) print(1)

struct s { int a; unsigned b : 3; int c : 5; char d[4]; union { int i; char c; } u; enum { RED, BLUE } e; int *p; void (*f)(int); }; struct s v; BEGIN { v.a = -1; v.b = 5; v.c = -3; v.d[0] = 'x'; v.u.i = 65; v.e = BLUE; v.p = (int *)16; print(v); }
= print({a=-1,b=5,c=-3,d=[120,0,0,0],u={i=65,c=65},e=1,p=0x10,f=0x0})

BEGIN { print(5); print("str"); print('c'); print((short)-1); print((void *)16); print(execname == "x"); print(timestamp > 0); }
= print(5) print("str") print(99) print(-1) print(0x10) print(0) print(1)

enum color { RED, GREEN = 7 }; BEGIN { print(GREEN); print((enum color)7); this->c = (enum color)0; print(this->c); }
= print(7) print(7) print(0)

struct n { struct { int x; int y; } p[2]; long l; }; BEGIN { this->v = (struct n *)alloca(sizeof (struct n)); this->v->p[1].y = 4; this->v->l = 9; print(*this->v); print(this->v->p[1]); print(this->v->p); print(this->v->p[1].y); }
= print({p=[{x=0,y=0},{x=0,y=4}],l=9}) print({x=0,y=4}) print([{x=0,y=0},{x=0,y=4}]) print(4)

struct e { int : 3; int a : 2; unsigned b : 1; _Bool t; }; struct e v; BEGIN { v.a = 1; v.b = 1; v.t = 4; print(v); v.a--; v.a--; print(v); }
= print({a=1,b=1,t=1}) print({a=-1,b=1,t=1})

BEGIN { this->p = (struct list_head *)alloca(sizeof (struct list_head)); this->p->prev = (struct list_head *)0x10; print(*this->p); print(this->p->next); }
= print({next=0x0,prev=0x10}) print(0x0)

union u { long l; int i[2]; struct { char a; char b; } s; }; union u v; BEGIN { v.l = 0x0000000500000102; print(v); print(v.s); print(v.i); }
= print({l=21474836738,i=[258,5],s={a=2,b=1}}) print({a=2,b=1}) print([258,5])

typedef int myint; typedef struct { myint a; } mystruct; mystruct v; BEGIN { v.a = 3; print(v); print(v.a); }
= print({a=3}) print(3)
