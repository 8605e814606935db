BEGIN { @[probename, arg0] = count(); @[probename, arg0] = count(); @[probename, 5] = count(); }
= @[probe:0,100]=0:2 @[probe:0,5]=0:1

BEGIN { @a["x"] = count(); @a["xy"] = count(); @a[""] = count(); s = "x"; @a[s] = count(); @a[strjoin("x", "y")] = count(); }
= @a[""]=0:1 @a["x"]=0:2 @a["xy"]=0:2

BEGIN { @a[1, "k"] = sum(2); @a[1, "k"] = sum(3); @a[1, "l"] = sum(4); @a[2, "k"] = sum(5); }
= @a[1,"k"]=0:5;1:2 @a[1,"l"]=0:4;1:1 @a[2,"k"]=0:5;1:1

BEGIN { @a[(char)1] = count(); @b[(short)-1, (char)2] = count(); @c[-1] = count(); @d[1ul << 63] = count(); @e[(unsigned char)255] = count(); }
= @a[1]=0:1 @b[-1,2]=0:1 @c[-1]=0:1 @d[9223372036854775808]=0:1 @e[255]=0:1

struct p { int x; char y; }; struct p k; BEGIN { k.x = 1; k.y = 2; @[k] = count(); k.y = 3; @[k] = count(); k.y = 2; @[k] = count(); }
= @[{x=1,y=2}]=0:2 @[{x=1,y=3}]=0:1

BEGIN { @[execname == "x", pid > 0, arg0 / 3] = max(arg0); @[execname == "x", pid > 0, arg0 / 3] = max(arg0 + 1); }
= @[0,1,33]=0:101;1:2

enum c { RED, BLUE }; BEGIN { @[BLUE] = count(); @[RED] = count(); this->c = BLUE; @[this->c] = count(); }
= @[0]=0:1 @[1]=0:2

BEGIN { @p[(void *)16] = count(); @p[(void *)16] = count(); @q[curthread == NULL] = count(); }
= @p[0x10]=0:2 @q[0]=0:1

BEGIN { @[1, 2, 3, 4, 5, 6, 7, 8] = sum(1); @[1, 2, 3, 4, 5, 6, 7, 9] = sum(1); @[1, 2, 3, 4, 5, 6, 7, 8] = sum(arg0); }
= @[1,2,3,4,5,6,7,8]=0:101;1:2 @[1,2,3,4,5,6,7,9]=0:1;1:1

BEGIN { @c = count(); @s = sum(arg0); @a = avg(arg0); @m = min(arg0); @x = max(arg0); } BEGIN { @c = count(); @s = sum(1); @a = avg(0); @m = min(1); @x = max(1); }
= @c[]=0:2 @s[]=0:101;1:2 @a[]=0:100;1:2 @m[]=0:1;1:2 @x[]=0:100;1:2

BEGIN /arg4/ { @[1] = count(); } BEGIN /!arg4/ { @[2] = count(); } BEGIN { if (arg4) @[3] = count(); else @[4] = count(); }
= @[2]=0:1 @[4]=0:1

BEGIN { x = 3; @[x++] = count(); @[x++] = count(); @n[x] = sum(x++); trace(x); }
= 6 @[3]=0:1 @[4]=0:1 @n[5]=0:5;1:1

BEGIN { @["a very long key that is longer than sixty-four bytes to be sure of it, and longer still"] = count(); }
= @["a very long key that is longer than sixty-four bytes to be sure of it, and longer still"]=0:1

BEGIN { @l[1] = lquantize(5, 0, 10); @l[2] = lquantize(5, 0, 10); @l[1] = lquantize(-1, 0, 10); @q[1] = quantize(1); @q["x" == "x"] = quantize(1); }
= @l[1]=0:2;1:1;7:1 @l[2]=0:1;7:1 @q[1]=0:2;65:2

BEGIN { @l = llquantize(15, 10, 0, 3, 10); @l = llquantize(150, 10, 0, 3, 10); @l = llquantize(99999, 10, 0, 3, 10); @l = llquantize(0, 10, 0, 3, 10); }
= @l[]=0:4;1:1;11:1;20:1;38:1

BEGIN { @s["a"] = stddev(1); @s["a"] = stddev(3); @s["b"] = stddev(-1); }
= @s["a"]=0:4;1:2;2:10 @s["b"]=0:-1;1:1;2:1

BEGIN { a[1, 2] = 3; a[2, 1] = 4; trace(a[1, 2]); trace(a[2, 1]); trace(a[1, 1]); a[1, 2] = 0; trace(a[1, 2]); trace(a[2, 1]); }
= 3 4 0 0 4

BEGIN { a["k"] = 1; b["k"] = "v"; a["k"]++; b["k"] = strjoin(b["k"], "w"); trace(a["k"]); trace(b["k"]); trace(b["l"] == NULL); }
= 2 "vw" 1

BEGIN { a[pid, execname, probefunc] = 1; trace(a[pid, execname, probefunc]); trace(a[pid, execname, "x"]); trace(a[pid + 1, execname, probefunc]); }
= 1 0 0

BEGIN { self->a[1] = 1; self->a[2] = 2; trace(self->a[1] + self->a[2]); self->a[1] = 0; trace(self->a[1]); trace(self->a[2]); trace(self->a[3]); }
= 3 0 2 0

BEGIN { a[0] = 5; a[a[0]] = 6; trace(a[5]); a[a[0]]++; trace(a[5]); a[a[5]] = a[0] + a[5]; trace(a[7]); }
= 6 7 12

BEGIN { this->i = 0; a[this->i++] = this->i; trace(this->i); trace(a[0]); a[this->i] += 5; a[this->i] *= 2; trace(a[1]); trace(a[1] == 10 ? "ten" : "not"); }
= 1 1 10 "ten"

BEGIN { a["x"] = (char)5; trace(a["x"]); a["x"] = 300; trace(a["x"]); }
= 5 44

string s[int]; BEGIN { s[1] = "one"; t = s[1]; s[1] = "two"; trace(t); trace(s[1]); trace(strlen(s[1])); trace(s[1] == "two"); trace(s[1] > "one"); trace(substr(s[1], 1)); }
= "one" "two" 3 1 1 "wo"

BEGIN { self->x = 1; self->y = 2; self->z = self->x + self->y; trace(self->z); self->x = 0; self->y = 0; trace(self->z); self->z = 0; trace(self->z); }
= 3 3 0

BEGIN { self->t = timestamp; } BEGIN /self->t/ { trace(timestamp >= self->t); self->t = 0; } BEGIN /self->t/ { trace(9); } BEGIN /!self->t/ { trace(8); }
= 1 8
