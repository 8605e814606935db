BEGIN
{
	if (a) b = 1;
	if (a)
		b = 1;
	else
		b = 2;
	if (a) {
		if (b)
			c = 1;
		else
			c = 2;
	} else if (d) {
		this int e;
		e = 3
	} else {
	}
	if (f) ;
	this string s, *t;
	self->g = 1
}
