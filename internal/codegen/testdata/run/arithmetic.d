BEGIN { trace(1 + 2); trace(1 - 2); trace(6 * 7); trace(7 / 2); trace(-7 / 2); trace(7 % 3); trace(-7 % 3); }
= 3 -1 42 3 -3 1 -1

BEGIN { trace(7 % -3); trace(1 << 4); trace(-16 >> 2); trace(0xf0 >> 4); trace(~0); trace(-(-5)); trace(!5); trace(!0); }
= 1 16 -4 15 -1 5 0 1

BEGIN { trace(5 & 3); trace(5 | 3); trace(5 ^ 3); trace(1 && 0); trace(1 || 0); trace(1 ^^ 1); trace(1 ^^ 0); trace(0 ^^ 0); }
= 1 7 6 0 1 0 1 0

BEGIN { trace(2147483647 + 1); trace(2147483648); trace(4294967295u + 1); trace(0xffffffff + 1); }
= -2147483648 2147483648 0 0

BEGIN { trace(9223372036854775807 + 1); trace(18446744073709551615ul + 1); trace(-9223372036854775807 - 2); }
= -9223372036854775808 0 9223372036854775807

BEGIN { trace(-1 < 0u); trace(-1 < 0); trace(-1l < 0u); trace(-1 < 0ul); trace(1 < 2); trace(2 <= 2); trace(3 > 2); trace(2 >= 3); }
= 0 1 1 0 1 1 1 0

BEGIN { trace((char)200); trace((unsigned char)200); trace((short)40000); trace((unsigned short)-1); trace((int)4294967295ul); }
= -56 200 -25536 65535 -1

BEGIN { trace((long)-1); trace((unsigned long)-1); trace((unsigned int)-1); trace((long)(unsigned int)-1); trace((uint64_t)(int)-1); }
= -1 18446744073709551615 4294967295 4294967295 18446744073709551615

BEGIN { trace(1 ? 2 : 3); trace(0 ? 2 : 3); trace(1 ? 2 : 3l); trace(pid > 0 ? -1 : 1u); }
= 2 3 2 4294967295

BEGIN { trace((1, 2)); trace((1, 2, 3)); x = (1, 5); trace(x); }
= 2 3 5

BEGIN { trace('a'); trace('\n'); trace('\0'); trace('\x41'); trace('\101'); trace(0777); trace(0x7f); trace(017); }
= 97 10 0 65 65 511 127 15

BEGIN { trace(sizeof (int)); trace(sizeof (long)); trace(sizeof (char)); trace(sizeof (int *)); trace(sizeof (short)); trace(sizeof 'a'); trace(sizeof 1l); }
= 4 8 1 8 2 4 8

BEGIN { x = 5; trace(x++); trace(x); trace(++x); trace(x--); trace(--x); trace(-x); }
= 5 6 7 7 5 -5

BEGIN { x = 10; x += 5; trace(x); x -= 3; trace(x); x *= 2; trace(x); x /= 5; trace(x); x %= 3; trace(x); }
= 15 12 24 4 1

BEGIN { x = 12; x &= 10; trace(x); x |= 5; trace(x); x ^= 15; trace(x); x <<= 3; trace(x); x >>= 1; trace(x); }
= 8 13 2 16 8

BEGIN { x = y = 3; trace(x + y); x = (y = 4) * 2; trace(x); trace(y); }
= 6 8 4

char c; BEGIN { c = 127; c++; trace(c); c = 255; trace(c); c += 2; trace(c); }
= -128 -1 1

unsigned char c; BEGIN { c = 255; c++; trace(c); c--; trace(c); c <<= 1; trace(c); c = -1; trace(c > 0); }
= 0 255 254 1

short s; BEGIN { s = 32767; s++; trace(s); trace(s--); trace(s); s *= 2; trace(s); }
= -32768 -32768 32767 -2

unsigned short s; BEGIN { s = 65535; s++; trace(s); s -= 1; trace(s); s >>= 15; trace(s); }
= 0 65535 1

_Bool b; BEGIN { b = 5; trace(b); b = 0; trace(b); b = 0x100; trace(b); b++; trace(b); trace(!b); }
= 1 0 1 1 0

int i; BEGIN { i = 2147483647; i++; trace(i); i--; trace(i); i = -i; trace(i); i *= 2; trace(i); }
= -2147483648 2147483647 -2147483647 2

unsigned u; BEGIN { u = 0; u--; trace(u); u += 2; trace(u); u = -1; trace(u >> 31); trace(u / 2); trace(u % 10); }
= 4294967295 1 1 2147483647 5

long l; BEGIN { l = 1; l <<= 63; trace(l); l >>= 63; trace(l); l = l - 1; trace(l); trace(l / 2); }
= -9223372036854775808 -1 -2 -1

unsigned long u; BEGIN { u = 1; u <<= 63; trace(u); u >>= 63; trace(u); u = -1; trace(u / 3); trace(u % 1000); }
= 9223372036854775808 1 6148914691236517205 615

BEGIN { trace(arg0); trace(arg1); trace(arg2); trace(arg3); trace(arg4); trace(arg9); }
= 100 -1 -9223372036854775808 4294967296 0 0

BEGIN { trace(arg0 / 7); trace(arg1 / 7); trace(arg1 % 7); trace(arg2 / 10); trace(arg2 % 10); trace(arg3 / -3); trace(arg3 % -3); }
= 14 0 -1 -922337203685477580 -8 -1431655765 1

BEGIN { trace(arg2 / arg1); trace(arg2 % arg1); trace((int)arg3 - 1); trace((int)arg2 / -1); trace((char)arg0 << 1); }
= -9223372036854775808 0 -1 0 200

BEGIN { trace((unsigned)arg1 / 3u); trace((unsigned)arg1 % 16u); trace((uint64_t)arg1 / 10); trace((uint64_t)arg2 >> 60); trace(arg2 >> 60); }
= 1431655765 15 1844674407370955161 8 -8

BEGIN { trace(arg0 << arg0); trace((int)1 << (int)(arg0 - 69)); trace(arg0 >> 1); trace((int)arg0 << 25); trace(1ul << 63); }
= 6871947673600 -2147483648 50 -939524096 9223372036854775808

BEGIN { trace(arg0 > 50 && arg0 < 200); trace(arg0 > 50 && arg0 < 60); trace(arg0 < 50 || arg1 < 0); trace(!(arg0 == 100)); trace(!arg4); trace(arg0 ^^ arg4); }
= 1 0 1 0 1 1

BEGIN { trace((arg0 == 100) + (arg1 == -1) + (arg4 != 0)); trace(-(arg0 < 1000)); trace((arg0 > 0) * 7); }
= 2 -1 7

BEGIN { x = 1; y = 0; y && x++; trace(x); x && y++; trace(y); x || (y = 9); trace(y); 0 || (y = 9); trace(y); }
= 1 1 1 9

BEGIN { x = arg0; x > 50 ? (y = 1) : (y = 2); trace(y); z = x > 500 ? x : -x; trace(z); }
= 1 -100

BEGIN { x = 0; trace(x++ + x++); trace(x); trace(++x * 2); x += x++; trace(x); }
= 1 2 6 6

BEGIN { trace((int)0x80000000 / (int)arg1); trace((int)0x80000000 % (int)arg1); trace((short)arg2); trace((int)arg3); }
= -2147483648 0 0 0

BEGIN { trace(1 / arg0); trace(100 / arg0); trace(arg0 / arg0); trace(arg4 / arg0); trace(-arg0 / 3); trace(-arg0 % 3); }
= 0 1 1 0 -33 -1

BEGIN { trace(0x10 == 16); trace(1 == 1u); trace(-1 == 0xffffffff); trace(-1 == 0xffffffffffffffff); trace(-1l == 0xffffffffu); }
= 1 1 1 1 0

enum color { RED, GREEN = 5, BLUE }; enum color c; BEGIN { c = BLUE; trace(c); trace(RED); trace(GREEN + 1); trace(c == BLUE); trace(c > GREEN); }
= 6 0 6 1 1

enum { A = -1, B, C = 10, D }; BEGIN { trace(A); trace(B); trace(C); trace(D); trace(sizeof (enum color2 { Z })); }
= -1 0 10 11 4

inline int five = 5; inline long big = five * 1000000000; BEGIN { trace(five); trace(big); trace(five + five); }
= 5 705032704 10

inline int add[int a, int b] = a + b; inline int twice[int a] = add[a, a]; BEGIN { x = 3; trace(add[x, 4]); trace(twice[x++]); trace(x); }
= 7 6 4

typedef unsigned char byte; byte b; BEGIN { b = 300; trace(b); trace((byte)-1); trace(sizeof (byte)); }
= 44 255 1

typedef struct pair { int a; long b; } pair_t; BEGIN { trace(sizeof (pair_t)); trace(offsetof(pair_t, b)); trace(sizeof (struct pair)); }
= 16 8 16

union u { char c; int i; long l; }; struct s { char a; union u u; char z; }; BEGIN { trace(sizeof (union u)); trace(sizeof (struct s)); trace(offsetof(struct s, u)); trace(offsetof(struct s, z)); }
= 8 24 8 16

struct bits { int a : 3; unsigned b : 5; int : 0; long c : 40; char d; }; BEGIN { trace(sizeof (struct bits)); trace(offsetof(struct bits, d)); }
= 16 13
