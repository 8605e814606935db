BEGIN
{
	@a = count();
	@a = /* ERROR D_AGG_REDEF "aggregation redefined: @a\n\t current: @a = sum\( \)\n\tprevious: @a = count\( \) : line 3" */ sum(1);
	@b = /* ERROR D_AGG_FUNC "@b must be assigned the result of an aggregating function" */ 5;
	@b = /* ERROR D_AGG_FUNC "@b must be assigned the result of an aggregating function" */ strlen("x");
	@b += /* ERROR D_AGG_FUNC "@b must be assigned" */ count();
	@a /* ERROR D_AGG_NULL "expression has null effect: @a" */ ;
	@k[1, "x"] = count();
	@k /* ERROR D_PROTO_LEN "@k\[ \] prototype mismatch: 1 arg passed, 2 expected" */ [1] = count();
	@k /* ERROR D_PROTO_LEN "@k\[ \] prototype mismatch: 0 args passed, 2 expected" */ = count();
	@k["x" /* ERROR D_PROTO_ARG "@k\[ \] argument #1 is incompatible with prototype:\n\tprototype: int\n\t argument: string" */ , "x"] = count();
	@v[(void)1 /* ERROR D_KEY_TYPE "void expression may not be used as aggregation index: key #1" */ ] = count();
	@v[@a /* ERROR D_OP_DYN "aggregation @a" */ ] = count();
	@c = count /* ERROR D_PROTO_LEN "count\( \) prototype mismatch: 1 arg passed, 0 expected" */ (1);
	@s = sum /* ERROR D_PROTO_LEN "sum\( \) prototype mismatch: 0 args passed, 1 expected" */ ();
	@s = sum /* ERROR D_PROTO_LEN "sum\( \) prototype mismatch: 2 args passed, 1 expected" */ (1, 2);
	@m = min /* ERROR D_PROTO_LEN "min\( \) prototype mismatch" */ ();
	@m = max /* ERROR D_PROTO_LEN "max\( \) prototype mismatch: 2 args passed" */ (1, 2);
	@m = avg /* ERROR D_PROTO_LEN "avg\( \) prototype mismatch" */ ();
	@m = stddev /* ERROR D_PROTO_LEN "stddev\( \) prototype mismatch" */ ();
	@m = quantize /* ERROR D_PROTO_LEN "quantize\( \) prototype mismatch: 0 args passed, 1 expected" */ ();
	@m = quantize /* ERROR D_PROTO_LEN "quantize\( \) prototype mismatch: 3 args passed, at most 2 expected" */ (1, 2, 3);
	@m = sum("x" /* ERROR D_AGG_SCALAR "sum\( \) argument #1 must be of scalar type" */ );
	@m = quantize(execname /* ERROR D_AGG_SCALAR "quantize\( \) argument #1 must be of scalar type" */ );
	@m = quantize(1, "x" /* ERROR D_PROTO_ARG "quantize\( \) increment value \(argument #2\) must be of scalar type" */ );
	@l = lquantize /* ERROR D_PROTO_LEN "lquantize\( \) prototype mismatch: 2 args passed, 3 expected" */ (1, 0);
	@l = lquantize(1, pid /* ERROR D_LQUANT_BASETYPE "lquantize\( \) argument #1 must be an integer constant" */ , 10);
	@l = lquantize(1, 5000000000 /* ERROR D_LQUANT_BASEVAL "lquantize\( \) argument #1 must be a 32-bit quantity" */ , 10);
	@l = lquantize(1, 0, pid /* ERROR D_LQUANT_LIMTYPE "lquantize\( \) argument #2 must be an integer constant" */ );
	@l = lquantize(1, 0, 5000000000 /* ERROR D_LQUANT_LIMVAL "lquantize\( \) argument #2 must be a 32-bit quantity" */ );
	@l = lquantize /* ERROR D_LQUANT_MISMATCH "base \(argument #1\) must be less than limit" */ (1, 10, 0);
	@l = lquantize(1, 0, 10, pid /* ERROR D_LQUANT_STEPTYPE "argument #3 must be a non-zero positive integer constant" */ );
	@l = lquantize(1, 0, 10, 0 /* ERROR D_LQUANT_STEPTYPE "argument #3 must be a non-zero positive integer constant" */ );
	@l = lquantize(1, 0, 1000000, 70000 /* ERROR D_LQUANT_STEPVAL "argument #3 must be a 16-bit quantity" */ );
	@l = lquantize /* ERROR D_LQUANT_STEPLARGE "step \(argument #3\) too large" */ (1, 0, 10, 11);
	@l = lquantize /* ERROR D_LQUANT_STEPSMALL "step \(argument #3\) too small" */ (1, 0, 1000000, 1);
	@l = lquantize /* ERROR D_PROTO_LEN "lquantize\( \) prototype mismatch: 6 args passed, at most 5 expected" */ (1, 0, 10, 1, 1, 1);
	@lq = lquantize(1, 0, 10, 2);
	@lq = lquantize /* ERROR D_LQUANT_MATCHBASE "base \(argument #1\) doesn't match previous declaration: expected 0, found 2" */ (1, 2, 10, 2);
	@lq = lquantize /* ERROR D_LQUANT_MATCHLIM "limit \(argument #2\) doesn't match previous declaration: expected 10, found 20" */ (1, 0, 20, 2);
	@lq = lquantize /* ERROR D_LQUANT_MATCHSTEP "step \(argument #3\) doesn't match previous declaration: expected 2, found 5" */ (1, 0, 10, 5);
	@ll = llquantize /* ERROR D_PROTO_LEN "llquantize\( \) prototype mismatch: 4 args passed, 5 expected" */ (1, 10, 0, 3);
	@ll = llquantize(1, pid /* ERROR D_LLQUANT_FACTORTYPE "argument #1 \(factor\) must be an integer constant" */ , 0, 3, 10);
	@ll = llquantize(1, 10, pid /* ERROR D_LLQUANT_LOWTYPE "argument #2 \(low magnitude\) must be an integer constant" */ , 3, 10);
	@ll = llquantize(1, 10, 0, pid /* ERROR D_LLQUANT_HIGHTYPE "argument #3 \(high magnitude\)" */ , 10);
	@ll = llquantize(1, 10, 0, 3, pid /* ERROR D_LLQUANT_NSTEPTYPE "argument #4 \(linear steps per magnitude\)" */ );
	@ll = llquantize(1, 70000 /* ERROR D_LLQUANT_FACTORVAL "must be an unsigned 16-bit quantity" */ , 0, 3, 10);
	@ll = llquantize(1, 10, -1 /* ERROR D_LLQUANT_LOWVAL "must be an unsigned 16-bit quantity" */ , 3, 10);
	@ll = llquantize(1, 10, 0, 70000 /* ERROR D_LLQUANT_HIGHVAL "must be an unsigned 16-bit quantity" */ , 10);
	@ll = llquantize(1, 10, 0, 3, 70000 /* ERROR D_LLQUANT_NSTEPVAL "must be an unsigned 16-bit quantity" */ );
	@ll = llquantize /* ERROR D_LLQUANT_FACTORSMALL "factor \(argument #1\) must be two or more" */ (1, 1, 0, 3, 10);
	@ll = llquantize /* ERROR D_LLQUANT_MAGRANGE "high magnitude \(argument #3\) must be greater" */ (1, 10, 3, 3, 10);
	@ll = llquantize /* ERROR D_LLQUANT_FACTORNSTEPS "must be less than or equal to the number of linear steps" */ (1, 10, 0, 3, 5);
	@ll = llquantize /* ERROR D_LLQUANT_FACTOREVEN "must evenly divide" */ (1, 10, 0, 3, 15);
	@ll = llquantize /* ERROR D_LLQUANT_MAGTOOBIG "factor \(10\) raised to power of high magnitude \(30\) overflows 64-bits" */ (1, 10, 0, 30, 10);
	@lm = llquantize(1, 10, 0, 3, 10);
	@lm = llquantize /* ERROR D_LLQUANT_FACTORMATCH "factor \(argument #1\) doesn't match previous declaration: expected 10, found 2" */ (1, 2, 0, 3, 4);
	@lm = llquantize /* ERROR D_LLQUANT_LOWMATCH "low magnitude \(argument #2\) doesn't match" */ (1, 10, 1, 3, 10);
	@lm = llquantize /* ERROR D_LLQUANT_HIGHMATCH "high magnitude \(argument #3\) doesn't match" */ (1, 10, 0, 4, 10);
	@lm = llquantize /* ERROR D_LLQUANT_NSTEPMATCH "linear steps per magnitude \(argument #4\) doesn't match" */ (1, 10, 0, 3, 100);
	x = (@a = /* ERROR D_OP_DYN "aggregation @a may only be assigned in a statement of its own" */ count());
	trace /* ERROR D_TRACE_DYN "may not be applied to a dynamic expression" */ (@a);
	clear(@nosuch /* ERROR D_CLEAR_AGGBAD "undefined aggregation: @nosuch" */ );
	clear /* ERROR D_CLEAR_PROTO "clear\( \) prototype mismatch: 0 args passed, 1 expected" */ ();
	clear(1 /* ERROR D_CLEAR_AGGARG "clear\( \) argument #1 is incompatible with prototype:\n\tprototype: aggregation\n\t argument: int" */ );
	trunc /* ERROR D_TRUNC_PROTO "trunc\( \) prototype mismatch: 0 args passed, at least 1 expected" */ ();
	trunc /* ERROR D_TRUNC_PROTO "trunc\( \) prototype mismatch: 3 args passed, no more than 2 expected" */ (@a, 1, 2);
	trunc(1 /* ERROR D_TRUNC_AGGARG "prototype: aggregation" */ );
	trunc(@nosuch /* ERROR D_TRUNC_AGGBAD "undefined aggregation: @nosuch" */ );
	trunc(@a, "x" /* ERROR D_TRUNC_SCALAR "trunc\( \) argument #2 must be of scalar type" */ );
	normalize /* ERROR D_NORMALIZE_PROTO "normalize\( \) prototype mismatch: 1 arg passed, 2 expected" */ (@a);
	denormalize /* ERROR D_NORMALIZE_PROTO "denormalize\( \) prototype mismatch: 2 args passed, 1 expected" */ (@a, 1);
	normalize(1 /* ERROR D_NORMALIZE_AGGARG "prototype: aggregation" */ , 2);
	normalize(@nosuch /* ERROR D_NORMALIZE_AGGBAD "undefined aggregation: @nosuch" */ , 2);
	normalize(@a, "x" /* ERROR D_NORMALIZE_SCALAR "normalize\( \) argument #2 must be of scalar type" */ );
	printa /* ERROR D_PROTO_LEN "printa\( \) prototype mismatch: 0 args passed, at least 1 expected" */ ();
	printa /* ERROR D_PRINTA_PROTO "printa\( \) prototype mismatch: 1 arg passed, 2 expected" */ ("x");
	printa(1 /* ERROR D_PRINTA_AGGARG "printa\( \) argument #1 is incompatible with prototype:\n\tprototype: aggregation" */ );
	printa("%@d", 5 /* ERROR D_PRINTA_AGGARG "printa\( \) argument #2" */ );
	printa(@nosuch /* ERROR D_PRINTA_AGGBAD "undefined aggregation: @nosuch" */ );
	printa("%@d %@d", @a, @k /* ERROR D_PRINTA_AGGKEY "@a and @k have different keys" */ );
	printa /* ERROR D_PRINTF_ARG_PROTO "conversion #1 \(%d\) is missing a corresponding value argument" */ ("%d %@d", @a);
	printa /* ERROR D_PRINTF_ARG_TYPE "argument #1 is incompatible with conversion #1 prototype:\n\tconversion: %s" */ ("%s %s %@d", @k);
	printa /* ERROR D_PRINTF_FMT "undefined: %j" */ ("%j", @a);
	printa("%d %s %@d\n", @k);
}

BEGIN { @st[stack(2)] = count(); @st[stack(5)] = count(); @st[stack()] = count(); }
BEGIN { @st[ustack /* ERROR D_PROTO_ARG "argument #1 is incompatible with prototype" */ (2)] = count(); }
BEGIN { @sy[sym(arg0)] = count(); @sy[func /* ERROR D_PROTO_ARG "argument #1 is incompatible with prototype" */ (arg0)] = count(); }

BEGIN
{
	@normal = count();
	normalize(@normal, 0 /* ERROR D_NORMALIZE_SCALAR "normalize\( \) argument #2 must be greater than 0" */ );
	normalize(@normal, - /* ERROR D_NORMALIZE_SCALAR "must be greater than 0" */ 5);
	normalize(@normal, 5);
	normalize(@normal, 0xfffffffffffffffful);
	trunc(@normal, -5);
	trunc(@normal, 0);
}
