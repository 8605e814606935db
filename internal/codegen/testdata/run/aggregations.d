BEGIN { @ = count(); } BEGIN { @ = count(); }
= @[]=0:2

BEGIN { @a[1] = count(); @a[2] = count(); @a[1] = count(); @b["x", 3] = count(); }
= @a[1]=0:2 @a[2]=0:1 @b["x",3]=0:1

BEGIN { @s = sum(5); @s = sum(-7); @s = sum(arg0); }
= @s[]=0:98;1:3

BEGIN { @m = min(5); @m = min(-7); @m = min(9); @x = max(5); @x = max(-7); @x = max(9); }
= @m[]=0:-7;1:3 @x[]=0:9;1:3

BEGIN { @m = min(-1); @m = min(-5); @x = max(-9); @x = max(-5); @u = max((uint64_t)arg1); @u = max(5ul); @v = min((uint64_t)arg1); @v = min(5ul); }
= @m[]=0:-5;1:2 @x[]=0:-5;1:2 @u[]=0:-1;1:2 @v[]=0:5;1:2

BEGIN { @a[1] = avg(10); @a[1] = avg(21); @a[2] = avg(-4); }
= @a[1]=0:31;1:2 @a[2]=0:-4;1:1

BEGIN { @d = stddev(3); @d = stddev(-4); @d = stddev(arg0); }
= @d[]=0:99;1:3;2:10025

BEGIN { @d = stddev(arg3); @e = stddev(arg2); @f = stddev(0x7fffffffffffffff); }
= @d[]=0:4294967296;1:1;4:1 @e[]=0:-9223372036854775808;1:1;4:4611686018427387904 @f[]=0:9223372036854775807;1:1;2:1;4:4611686018427387903

# bucket of word w: w-1; 63 is zero, 63+k counts 2^(k-1) and up
BEGIN { @q = quantize(0); @q = quantize(1); @q = quantize(2); @q = quantize(3); @q = quantize(4); @q = quantize(-1); @q = quantize(-2); @q = quantize(-3); }
= @q[]=0:8;62:2;63:1;64:1;65:1;66:2;67:1

BEGIN { @q = quantize(arg2); @q = quantize(0x7fffffffffffffff); @q = quantize(arg3); @q = quantize(arg0); }
= @q[]=0:4;1:1;71:1;97:1;127:1

BEGIN { @q = quantize(5, 10); @q = quantize(5, -3); @q = quantize(8, 0); }
= @q[]=0:3;67:7

BEGIN { @l = lquantize(0, 0, 10, 2); @l = lquantize(1, 0, 10, 2); @l = lquantize(9, 0, 10, 2); @l = lquantize(10, 0, 10, 2); @l = lquantize(-1, 0, 10, 2); @l = lquantize(arg0, 0, 10, 2); }
= @l[]=0:6;1:1;2:2;6:1;7:2

BEGIN { @l = lquantize(-5, -10, 10); @l = lquantize(-10, -10, 10); @l = lquantize(9, -10, 10); @l = lquantize(arg2, -10, 10); @l = lquantize(3, -10, 10, 1, 5); }
= @l[]=0:5;1:1;2:1;7:1;15:5;21:1

# steps of llquantize(10, 0, 2, 10): 1..9 by 1, 10..90 by 10, 100..900 by 100
BEGIN { @l = llquantize(0, 10, 0, 2, 10); @l = llquantize(1, 10, 0, 2, 10); @l = llquantize(9, 10, 0, 2, 10); @l = llquantize(10, 10, 0, 2, 10); @l = llquantize(99, 10, 0, 2, 10); @l = llquantize(arg0, 10, 0, 2, 10); @l = llquantize(999, 10, 0, 2, 10); @l = llquantize(1000, 10, 0, 2, 10); }
= @l[]=0:8;1:1;2:1;10:1;11:1;19:1;20:1;28:1;29:1

BEGIN { @l = llquantize(-5, 2, 2, 4, 4); @l = llquantize(4, 2, 2, 4, 4); @l = llquantize(7, 2, 2, 4, 4); @l = llquantize(8, 2, 2, 4, 4); @l = llquantize(31, 2, 2, 4, 4); @l = llquantize(32, 2, 2, 4, 4); }
= @l[]=0:6;1:1;2:1;3:1;4:1;7:1;8:1

BEGIN { @[probename] = count(); @p[probeprov, probename] = sum(2); @x[probename, 1] = count(); }
= @[site]=0:1 @p[site,site]=0:2;1:1 @x[probe:0,1]=0:1

BEGIN { s = "k"; @k[s] = count(); @k["k"] = count(); @k[strjoin("", "k")] = count(); @k["longer"] = count(); }
= @k["k"]=0:3 @k["longer"]=0:1

BEGIN { @a[(char)-1] = count(); @b[(short)5, -1l, 'x'] = count(); @c[1 == 1] = count(); }
= @a[-1]=0:1 @b[5,-1,120]=0:1 @c[1]=0:1

struct p { int x; int y; }; struct p g; BEGIN { g.x = 1; @[g] = count(); g.y = 2; @[g] = count(); @[g] = count(); }
= @[{x=1,y=0}]=0:1 @[{x=1,y=2}]=0:2

BEGIN { @[stack(2)] = count(); @[stack(2)] = count(); @u[ustack(2)] = count(); @s[sym((uintptr_t)5)] = count(); @f[func(5)] = count(); }
= @[stack]=0:2 @u[stack]=0:1 @s[kind13]=0:1 @f[kind14]=0:1

BEGIN /arg4/ { @a = count(); } BEGIN { @b = count(); }
= @b[]=0:1

BEGIN { if (arg0 == 100) { @a["yes"] = count(); } else { @a["no"] = count(); } }
= @a["yes"]=0:1

# one signed value makes an aggregation's values signed, wherever it is
BEGIN { @u = max(5ul); @u = max(-1); @v = min(5ul); @v = min(-1); @x = max(-1); @x = max(5ul); @n = min(-1); @n = min(5ul); @w = max(5ul); @w = max((uint64_t)arg1); }
= @u[]=0:5;1:2 @v[]=0:-1;1:2 @x[]=0:5;1:2 @n[]=0:-1;1:2 @w[]=0:-1;1:2

BEGIN { @c = count(); @c2 = sum(1); @c3 = min(1); @c4 = max(1); @c5 = avg(1); @c6 = stddev(1); }
= @c[]=0:1 @c2[]=0:1;1:1 @c3[]=0:1;1:1 @c4[]=0:1;1:1 @c5[]=0:1;1:1 @c6[]=0:1;1:1;2:1

BEGIN { @[1ul] = count(); @[-1] = count(); }
= @[18446744073709551615]=0:1 @[1]=0:1

BEGIN { @a[tid == tid] = quantize(arg0); @a[0] = quantize(1); }
= @a[0]=0:1;65:1 @a[1]=0:1;71:1

BEGIN { @[stack(2)] = count(); @[stack(5)] = count(); @[stack(2)] = count(); @u[ustack(2), 1] = count(); @u[ustack(5, 100), 1] = count(); }
= @[stack]=0:1 @[stack]=0:2 @u[stack,1]=0:1 @u[stack,1]=0:1

BEGIN { @[stack(9), 7] = count(); @[stack(1), 7] = count(); @[stack(1), 8] = count(); }
= @[stack,7]=0:1 @[stack,7]=0:1 @[stack,8]=0:1

# rows that are too large for per-CPU maps
BEGIN { @ = lquantize(arg0, 0, 10000); @ = lquantize(99999, 0, 10000); @k[probename, 1] = lquantize(5, 0, 10000); @k["x", 1] = lquantize(-5, 0, 10000, 1, 7); @n[probename] = llquantize(arg0, 10, 0, 18, 1000); }
= @[]=0:2;102:1;10002:1 @k["BEGIN",1]=0:1;7:1 @k["x",1]=0:1;1:7 @n[probe:0]=0:1;101:1

BEGIN { @a = min(0x8000000000000000); @b = max(0x8000000000000000); @c = min(-1); @d = max(-1); @a = min(7ull); @b = max(7ull); @c = min(-9223372036854775807 - 1); @d = max(-9223372036854775807 - 1); }
= @a[]=0:7;1:2 @b[]=0:-9223372036854775808;1:2 @c[]=0:-9223372036854775808;1:2 @d[]=0:-1;1:2
