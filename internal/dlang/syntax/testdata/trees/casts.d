/* Parentheses that enclose types, and those that do not. */
/* CONFIG types=folio,blk_opf,module`kind */
typedef int mine;
int bytes_t;

BEGIN
{
	(mine)-1;
	(folio)-1;
	(page)-1;
	(uint64_t)+1;
	(size_t)*p;
	(bytes_t)*p;
	(pid)&x;
	(page)x;
	(page)(x);
	(page *)x;
	(page **)&x;
	(page)"x";
	(page)@a;
	(page)self->x;
	(page)[1];
	(page)->x;
	(page).x;
	(page)++;
	(folio)++x;
	(page * 2);
	(page * x);
	(page const *)x;
	(const page *)x;
	(module`kind)-x;
	(module`other)-x;
	(int (*)(int))x;
	(page (*)(int))x;
	(void (*)())x;
	(struct s *)x;
	(enum e)x;
	(string)x;
	(unsigned char)x;
	(page[3]);
	sizeof (folio);
	sizeof (page);
	sizeof (page *);
	sizeof (folio[3]);
	sizeof (page[3]);
	sizeof (page).x;
	sizeof (int[3]);
	sizeof (struct s);
	sizeof (long) * 2;
}
