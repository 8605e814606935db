BEGIN { this->a = curthread->mm->arg_start; this->n = strlen(copyinstr(this->a)); trace(this->n > 0); this->p = (char *)copyin(this->a, this->n + 1); trace(this->p[this->n]); trace(this->p[0] == *(char *)copyin(this->a, 1)); trace(stringof(this->p) == copyinstr(this->a)); }
= 1 0 1 1

BEGIN { this->a = curthread->mm->arg_start; trace(strlen(copyinstr(this->a, 3))); trace(copyinstr(this->a, 3) == substr(copyinstr(this->a), 0, 3)); trace(strlen(copyinstr(this->a, 1))); }
= 3 1 1

BEGIN { this->p = (char *)alloca(8); copyinto(curthread->mm->arg_start, 4, this->p); trace(this->p[4]); trace(this->p[0] == *(char *)copyin(curthread->mm->arg_start, 1)); }
= 0 1

BEGIN { this->p = (int *)alloca(4 * 16); this->i = 15; this->p[this->i] = 7; trace(this->p[this->i]); *(this->p + this->i) = 8; trace(*(this->p + 15)); trace(*(15 + this->p)); }
= 7 8 8

BEGIN { this->p = (int *)alloca(16); this->i = arg0; this->p[this->i] = 1; trace(99); }
= fault:3:1:kernel

BEGIN { this->p = (short *)alloca(8); this->q = (char *)this->p; this->p[0] = 0x1234; trace(this->q[0]); trace(this->q[1]); *(int *)this->p = -2; trace(this->p[0]); trace(this->p[1]); trace(this->p[2]); }
= 52 18 -2 -1 0

BEGIN { this->p = (long *)alloca(32); this->p++; *this->p = 5; this->p++; *this->p = 6; this->p--; trace(*this->p); trace(*--this->p); trace(*(this->p + 2)); this->p += 2; trace(*this->p); this->p -= 1; trace(*this->p); }
= 5 0 6 6 5

BEGIN { this->p = (void **)alloca(16); this->p[1] = (void *)5; trace(this->p[1]); trace(this->p[0] == NULL); trace((long)this->p[1] + 1); trace(!this->p[0]); trace(this->p[1] ? 1 : 2); trace(this->p[0] || this->p[1]); }
= 0x5 1 6 1 1 1

BEGIN { bcopy(curthread->comm, this->p = alloca(16), 16); trace(stringof((char *)this->p) == execname); } this void *p;
= 1

BEGIN { this->p = alloca(16); bcopy(curthread->comm, this->p, 4); trace(substr(execname, 0, 4) == stringof((char *)this->p)); bcopy((void *)8, this->p, 4); trace(1); }
= fault:4:1:0x8

BEGIN { this->p = alloca(0); trace(1); } BEGIN { this->q = (char *)alloca(arg0); this->q[99] = 'z'; trace(this->q[99]); this->i = 100; trace(this->q[this->i]); }
= 1 122 0

BEGIN { this->p = (char *)alloca(16); this->q = (char *)alloca(16); trace(this->q - this->p); trace(this->q != this->p); trace(this->p < this->q); trace(this->p <= this->p); }
= 16 1 1 1

BEGIN { this->p = (char *)alloca(6); bcopy(curthread->comm, this->p, 1); this->p[0] = *(char *)curthread->comm == this->p[0]; tracemem(this->p, 3); trace(1); } BEGIN { tracemem(alloca(4), 4); }
= tracemem(010000) 1 tracemem(00000000)

char buf[4]; BEGIN { buf[0] = 'a'; tracemem(buf, 4); tracemem(&buf[1], 2); this->p = &buf[1]; trace(1); }
= tracemem(61000000) tracemem(0000) 1

struct s { int a; int b[3]; }; struct s v; BEGIN { this->p = &v; this->p->b[2] = 4; trace(v.b[2]); this->q = &v.b[1]; *this->q = 3; trace(v.b[1]); this->q++; trace(*this->q); trace(this->p->b[2]); trace(*v.b); trace(v.b[1] + v.b[2]); }
= 4 3 4 4 0 7

BEGIN { this->p = (uint8_t *)alloca(2); this->p[0] = 255; this->p[0]++; trace(this->p[0]); this->p[1] = 200; trace(this->p[1] + 100); this->p[1] += 100; trace(this->p[1]); trace(this->p[1]++ + ++this->p[1]); trace(this->p[1]); }
= 0 300 44 90 46

BEGIN { this->p = (struct list_head *)alloca(32); this->p[1].next = this->p; trace(this->p[1].next == this->p); trace(this->p[0].next == NULL); trace((this->p + 1)->next == &this->p[0]); this->p[0] = this->p[1]; trace(this->p->next == this->p); }
= 1 1 1 1

BEGIN { trace(*(int *)alloca(4)); trace(((char *)alloca(8))[7]); trace(sizeof (alloca(4))); trace((long)alloca(8) != 0); }
= 0 0 8 1

BEGIN { this->a = 5; this->a ? (this->p = (char *)alloca(1)) : (this->p = (char *)alloca(2)); *this->p = 3; trace(*this->p); }
= 3

BEGIN { this->n = arg0; this->p = (char *)alloca(100); copyinto(curthread->mm->arg_start, this->n, this->p); trace(this->p[0] != 0); } BEGIN { this->n = arg0; this->p = (char *)alloca(95); copyinto(curthread->mm->arg_start, this->n, this->p); trace(1); }
= 1 fault:3:1:kernel

BEGIN { this->n = 3; this->p = (char *)alloca(8); this->q = (char *)alloca(8); this->p[0] = 'a'; this->p[1] = 'b'; this->p[2] = 'c'; this->p[3] = 'd'; bcopy(this->p, this->q + 5, this->n); trace(this->q[7]); } BEGIN { this->n = 3; bcopy(this->p, this->q + 6, this->n); trace(1); }
= 99 fault:2:1:kernel

char buf[16]; BEGIN { bcopy(curthread->comm, buf, 16); trace(buf == execname); copyinto(curthread->mm->arg_start, 8, buf); trace(buf[0] == *(char *)copyin(curthread->mm->arg_start, 1)); this->n = 4; bcopy(curthread->comm, buf + 12, this->n); trace(buf[12] == *(char *)curthread->comm); }  BEGIN { this->n = 4; bcopy(curthread->comm, buf + 13, this->n); trace(1); }
= 1 1 1 fault:2:1:kernel

this char buf[16]; BEGIN { bcopy(curthread->comm, this->buf, 16); trace(this->buf == execname); this->p = &this->buf[2]; *this->p = 0; trace(strlen(this->buf)); this->i = 13; *(this->p + this->i) = 'z'; trace(this->buf[15]); }
= 1 2 122

struct s { int a; long b; }; this struct s t; BEGIN { this->p = &this->t; this->p->b = 7; this->p->a--; trace(this->t); this->q = &this->t.b; *this->q += 2; trace(this->t.b); }
= {a=-1,b=7} 9

struct s { int a; long b; }; struct s v; struct s w; BEGIN { this->p = &v; this->q = &w; *this->q = *this->p; this->p->a = 3; *this->q = v; trace(w); this->p = arg0 == 100 ? &w : &v; this->p->b = 9; trace(v.b); trace(w.b); }
= {a=3,b=0} 0 9
