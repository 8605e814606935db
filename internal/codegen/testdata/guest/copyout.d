BEGIN { this->a = curthread->mm->env_end - 1; trace(*(char *)copyin(this->a, 1)); this->c = (char *)alloca(1); *this->c = 'x'; copyout(this->c, this->a, 1); trace(*(char *)copyin(this->a, 1)); } this char *c;
= 0 120

BEGIN { this->a = curthread->mm->env_end - 3; copyoutstr("abcdef", this->a, 3); trace(copyinstr(this->a)); }
= "ab"

BEGIN { copyout((void *)alloca(4), 0x10, 4); trace(2); } BEGIN { copyoutstr("abc", 0x10, 4); } BEGIN { trace(3); }
= fault:1:1:0x10 fault:1:1:0x10 3

BEGIN { this->a = curthread->mm->env_end - 3; this->n = strlen("ab") + arg4; this->c = (char *)alloca(8); this->c[0] = 'x'; this->c[1] = 'y'; copyout(this->c, this->a, this->n); trace(copyinstr(this->a)); copyout(this->c, this->a, arg4); copyoutstr("q", this->a, arg0); trace(copyinstr(this->a)); } this char *c;
= "xy" "q"
