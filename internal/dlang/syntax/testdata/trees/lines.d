# 10 "other.h" 1
int a;
int b;
# 3 "lines.d" 2
int c; int d; /* one
   two */ int e;
#line 100
BEGIN {
	x = 1;
}
