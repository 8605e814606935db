BEGIN { x = 0; if (arg0 == 100) x = 1; trace(x); if (arg0 != 100) x = 2; trace(x); }
= 1 1

BEGIN { if (arg0 > 1 && arg1 < 0) trace(1); if (arg0 > 1 || 1 / arg4) trace(2); if (!(arg0 > 1) || arg4) trace(3); if (arg0 ^^ arg1) trace(4); }
= 1 2

BEGIN { if (arg0) { this->x = 1; } else { this->y = 2; } trace(this->x); trace(this->y); }
= 1 0

BEGIN { if (execname == "x") trace(1); else if (probename == "BEGIN") trace(2); else trace(3); }
= 2

BEGIN { if (arg0 == 100) { printf("%d", 1); } if (arg0 == 100) { printf("%d", 2); } else { printf("%d", 3); } printf("%d", 4); }
= 1 2 4

BEGIN { if (arg0) { if (arg1) { if (arg2) { if (arg3) { if (arg4) { trace(1); } else { trace(2); } } } } } trace(3); }
= 2 3

BEGIN { if (arg0) { @[1] = count(); } else { @[2] = count(); } if (arg0) { self->a = 5; } trace(self->a); if (self->a) { self->a = 0; } trace(self->a); }
= 5 0 @[1]=0:1

BEGIN /arg0 == 100/ { if (arg1) { exit(0); } else { trace(1); } }
= exit(0)

BEGIN { if (1) { trace(1); } if (0) { trace(2); } else { trace(3); } if (0) { trace(4); } }
= 1 3

BEGIN { if (arg0) { this->s = speculation(); } else { this->s = 0; } trace(this->s > 0); discard(this->s); }
= 1 discard(1)

BEGIN { if (arg0 == 1) { } else if (arg0 == 2) { } else { trace("other"); } }
= "other"

BEGIN { this->n = 0; if (arg0) this->n++; if (arg0) this->n += 2; if (arg4) this->n += 4; trace(this->n); }
= 3

BEGIN { trace(1); if (arg0) { } trace(2); }
= 1 2

BEGIN { if (arg0) { trace(1 / arg4); trace(1); } trace(2); } BEGIN { trace(3); }
= fault:2:4:0x0 3

BEGIN { if (arg0) { trace(1); } 1 / arg4; trace(2); }
= 1 fault:3:4:0x0

BEGIN { if (strlen(execname) > 0) { this->l = strlen(execname); } trace(this->l > 0); } BEGIN { if (this->l > 0) trace("kept"); }
= 1 "kept"

BEGIN { x = arg0 ? arg1 ? 1 : 2 : arg2 ? 3 : 4; trace(x); y = !arg0 ? 1 : arg4 ? 2 : 3; trace(y); trace((arg0 ? "a" : "b") == "a"); }
= 1 3 1

BEGIN { trace(arg0 == 100 ? arg1 == -1 ? "both" : "first" : "none"); s = arg4 ? "x" : NULL; trace(s == NULL); }
= "both" 1

BEGIN { x = 1, y = 2; trace(x + y); x = (y++, y * 2); trace(x); this->z = (x = 5, y = 6, x * y); trace(this->z); }
= 3 6 30

BEGIN { x = arg0; if (x > 10) { x -= 10; if (x > 80) { x -= 80; if (x == 10) { x = 1; } } } trace(x); }
= 1

BEGIN { if (x++) { trace(1); } else { trace(2); } if (x++) { trace(3); } trace(x); }
= 2 3 2

BEGIN { self->depth++; } BEGIN { self->depth++; trace(self->depth); } BEGIN { self->depth--; } BEGIN { self->depth--; } BEGIN /self->depth == 0/ { trace("balanced"); }
= 2 "balanced"

BEGIN { if (arg0) { this->p = (char *)alloca(2); tracemem(this->p, 2); } else { stack(); } } BEGIN { trace(0); }
= tracemem(0000) 0

BEGIN { @a = count(); } BEGIN { if (arg0) { print(arg0); clear(@a); } @a = count(); }
= print(100) clear() @a[]=0:2

int hits[4]; BEGIN { this->i = arg0 % 4; hits[this->i]++; hits[this->i + 1] += 2; if (hits[this->i] == 1) trace(hits[1]); trace(hits[this->i] + hits[this->i + 1]); }
= 2 3
