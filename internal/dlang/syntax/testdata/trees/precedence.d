/* One statement for each pair of neighbours in the order of precedence. */
BEGIN
{
	a = b, c = d;
	a = b = c;
	a += b ? c : d;
	a ? b : c ? d : e;
	a ? b, c : d;
	a || b ^^ c && d | e ^ f & g == h < i << j + k * l;
	a * b + c << d < e == f & g ^ h | i && j ^^ k || l;
	a - b - c;
	a / b % c * d;
	-a * !b;
	- -a;
	~a++;
	*p++;
	++*p;
	&a->b.c[1];
	(int)a + b;
	(int)-a.b;
	sizeof a + 1;
	sizeof (int) + 1;
	sizeof (a)->b;
	stringof a->b == "c";
	stringof (a + 1);
	a[b, c][d];
	f(a, (b, c), g());
	@[a, b] = quantize(c);
	@x[a] = lquantize(b, 0, 10);
	self->a[1]->b = this->c;
	`x + ext4`y;
	xlate <psinfo_t *>(a)->b;
	offsetof(struct s, m) * 2;
	x->counter + x.string;
}
