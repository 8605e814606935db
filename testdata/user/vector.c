// Loops that compilers turn into vector instructions of all kinds. The results
// go to the file that is named.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define N 203
#define FN __attribute__((noinline))

static float f1[N], f2[N];
static double d1[N], d2[N];
static int32_t i1[N], i2[N];
static uint8_t b1[N], b2[N];
static int16_t s1[N];
static int64_t l1[N];

FN void fill(void)
{
	uint32_t x = 12345;
	for (int i = 0; i < N; i++) {
		x = x * 1103515245 + 12345;
		f1[i] = (x >> 8) / 1e4f;
		f2[i] = (x >> 5) / 3e6f;
		d1[i] = x / 7.0;
		d2[i] = (x >> 3) / 9.0;
		i1[i] = x;
		i2[i] = x >> 7;
		b1[i] = x >> 11;
		b2[i] = x >> 13;
		s1[i] = x >> 9;
		l1[i] = (int64_t)x * x;
	}
}

FN double floats(void)
{
	float s = 0;
	double t = 0;
	for (int i = 0; i < N; i++)
		s += f1[i] * f2[i] - f2[i] / (1 + f1[i]);
	for (int i = 0; i < N; i++)
		t += sqrt(fabs(d1[i])) * d2[i];
	return s + t;
}

FN int64_t ints(void)
{
	int64_t s = 0;
	for (int i = 0; i < N; i++) {
		s += i1[i] > i2[i] ? i1[i] ^ i2[i] : (i1[i] | 0x55) & i2[i];
		s += (uint32_t)i1[i] << 3 >> (i2[i] & 7);
		s += __builtin_popcount(i1[i]);
	}
	return s;
}

FN int64_t bytes(void)
{
	int64_t s = 0;
	for (int i = 0; i < N; i++) {
		b1[i] = b1[i] + b2[i];
		s += b1[i] == b2[i];
		s += b1[i] > b2[i] ? b1[i] : b2[i];
		s += b1[i] > b2[i] ? b1[i] - b2[i] : b2[i] - b1[i];
	}
	return s;
}

FN int64_t shorts(void)
{
	int64_t s = 0;
	for (int i = 0; i < N; i++) {
		s1[i] = s1[i] * 3 + (s1[i] >> 2);
		s += s1[i] < 0 ? -s1[i] : s1[i];
	}
	for (int i = 0; i < N; i++)
		s += l1[i] >> (i & 31);
	return s;
}

FN int64_t conversions(void)
{
	int64_t s = 0;
	for (int i = 0; i < N; i++) {
		s += (int)f1[i];
		d1[i] = i1[i];
		f2[i] = (float)d2[i];
		s += (int64_t)(d2[i] * 0.5);
	}
	for (int i = 0; i < N; i++)
		s += (int)f2[i] + (int)d1[i];
	return s;
}

FN int64_t gathers(void)
{
	int64_t s = 0;
	char t[N];
	for (int i = 0; i < N; i++)
		s += i1[(uint32_t)i2[i] % N] + b1[s1[i] & 127];
	memset(t, 3, N);
	memcpy(t + 50, b1, 100);
	for (int i = 0; i < N; i++)
		s += t[i];
	t[N - 1] = 0;
	return s + strlen(t + 150);
}

int main(int argc, char **argv)
{
	FILE *out = fopen(argv[1], "w");
	fill();
	for (int i = 0; i < 2; i++)
		fprintf(out, "%.9g %ld %ld %ld %ld %ld\n", floats(), (long)ints(), (long)bytes(),
			(long)shorts(), (long)conversions(), (long)gathers());
	return 0;
}
