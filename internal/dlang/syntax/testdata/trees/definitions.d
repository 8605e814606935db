inline int LIMIT = 10 * 2;
inline string name[int n] = n == 0 ? "zero" : n == 1 ? "one" : "many";
inline uint64_t sum[uint64_t a, uint64_t b] = a + b;

translator out_t < struct in *p > {
	a = p->x;
	string = stringof(p->name);
	c = xlate <other_t>(*p).d;
};
translator none_t < int i > { };

provider app {
	probe start(int, char *);
	probe done(struct s *p) : (out_t *p);
	probe nothing();
};
