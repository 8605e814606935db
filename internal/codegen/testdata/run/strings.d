BEGIN { trace("hello"); trace(""); trace("a" "b" "c"); trace("tab\there\n"); trace("\x41\101"); }
= "hello" "" "abc" "tab\there\n" "AA"

BEGIN { trace("abc" == "abc"); trace("abc" != "abc"); trace("abc" < "abd"); trace("abc" <= "abc"); trace("b" > "a"); trace("" < "a"); trace("ab" >= "abc"); }
= 1 0 1 1 1 1 0

BEGIN { s = "abc"; t = "abd"; trace(s == t); trace(s != t); trace(s < t); trace(s <= t); trace(s > t); trace(s >= t); trace(s == "abc"); trace("abc" == s); }
= 0 1 1 1 0 0 1 1

BEGIN { s = "abc"; trace(s == "ab"); trace(s == "abcd"); trace(s != ""); trace(s == ""); trace(s > "abb"); trace(s < "b"); trace("ab" < s); }
= 0 0 1 0 1 1 1

BEGIN { s = "a"; t = s; s = "b"; trace(t); trace(s); trace(t == "a"); }
= "a" "b" 1

BEGIN { trace(arg0 > 5 ? "big" : "small"); trace(arg0 < 5 ? "big" : "small"); s = "x"; trace(arg0 > 5 ? s : "y"); }
= "big" "small" "x"

BEGIN { trace(strlen("")); trace(strlen("hello")); s = "abcdef"; trace(strlen(s)); trace(strlen(strjoin(s, s))); }
= 0 5 6 12

BEGIN { trace(strjoin("a", "b")); trace(strjoin("", "b")); trace(strjoin("a", "")); trace(strjoin(strjoin("a", "b"), "c")); trace(strlen(strjoin("", ""))); }
= "ab" "b" "a" "abc" 0

BEGIN { trace(substr("abcdef", 0)); trace(substr("abcdef", 2)); trace(substr("abcdef", 2, 2)); trace(substr("abcdef", 5, 9)); trace(substr("abcdef", 6)); trace(substr("abcdef", 99)); }
= "abcdef" "cdef" "cd" "f" "" ""

BEGIN { trace(substr("abcdef", -2)); trace(substr("abcdef", -2, 1)); trace(substr("abcdef", 1, -1)); trace(substr("abcdef", -9, 5)); trace(substr("abcdef", -9, 2)); trace(substr("abcdef", 2, 0)); trace(substr("abcdef", -4, -2)); }
= "ef" "e" "bcde" "ab" "" "" "cd"

BEGIN { trace(strchr("hello", 'l')); trace(strrchr("hello", 'l')); trace(strchr("hello", 'h')); trace(strrchr("hello", 'o')); trace(strchr("hello", 'z') == NULL); trace(strrchr("hello", 'z') == NULL); }
= "llo" "lo" "hello" "o" 1 1

BEGIN { trace(strstr("hello world", "o w")); trace(strstr("hello", "hello")); trace(strstr("hello", "")); trace(strstr("hello", "lo")); trace(strstr("hello", "low") == NULL); trace(strstr("", "a") == NULL); }
= "o world" "hello" "hello" "lo" 1 1

BEGIN { trace(index("hello", "l")); trace(index("hello", "lo")); trace(index("hello", "x")); trace(index("hello", "l", 3)); trace(index("hello", "l", 4)); trace(index("hello", "h", -3)); trace(index("", "")); trace(index("abc", "", 9)); }
= 2 3 -1 3 -1 0 0 3

BEGIN { trace(rindex("hello", "l")); trace(rindex("hello", "l", 2)); trace(rindex("hello", "l", 1)); trace(rindex("hello", "h", -1)); trace(rindex("hello", "", -1)); trace(rindex("hello", "")); trace(rindex("hello", "o", 99)); trace(rindex("ababab", "ab", 3)); }
= 3 2 -1 -1 0 5 4 2

BEGIN { trace(index("aaaaab", "aab")); trace(index("abababac", "ababac")); trace(rindex("aaaa", "aa")); trace(index("mississippi", "issip")); }
= 3 2 2 4

BEGIN { trace(strtok("one two,three", " ,")); trace(strtok(NULL, " ,")); trace(strtok(NULL, " ,")); trace(strtok(NULL, " ,") == NULL); }
= "one" "two" "three" 1

BEGIN { trace(strtok("::a::b::", ":")); trace(strtok(NULL, ":")); trace(strtok(NULL, ":") == NULL); trace(strtok("", ":") == NULL); trace(strtok(":::", ":") == NULL); }
= "a" "b" 1 1 1

BEGIN { this->t = strtok("a b", " "); } BEGIN { trace(this->t); trace(strtok(NULL, " ")); }
= "a" "b"

BEGIN { trace(toupper("Hello, World 1!")); trace(tolower("Hello, World 1!")); trace(toupper("")); trace(tolower("[A-Z]@{")); }
= "HELLO, WORLD 1!" "hello, world 1!" "" "[a-z]@{"

BEGIN { trace(basename("/usr/bin/ls")); trace(basename("ls")); trace(basename("/usr/bin/")); trace(basename("/")); trace(basename("//")); trace(basename("")); trace(basename("a/b//c///")); }
= "ls" "ls" "bin" "/" "/" "." "c"

BEGIN { trace(dirname("/usr/bin/ls")); trace(dirname("ls")); trace(dirname("/usr/bin/")); trace(dirname("/")); trace(dirname("/usr")); trace(dirname("")); trace(dirname("a/b//c///")); trace(dirname("a//b")); }
= "/usr/bin" "." "/usr" "/" "/" "." "a/b" "a"

BEGIN { trace(cleanpath("/a/b/../c")); trace(cleanpath("/a//b")); trace(cleanpath("/a/./b")); trace(cleanpath("/..")); trace(cleanpath("/a/b/c/../../d")); trace(cleanpath("/a/b/")); trace(cleanpath("/.a/..b/...")); trace(cleanpath("")); }
= "/a/c" "/a/b" "/a/b" "/" "/a/d" "/a/b/" "/.a/..b/..." ""

BEGIN { trace(lltostr(0)); trace(lltostr(123)); trace(lltostr(-123)); trace(lltostr(arg2)); trace(lltostr(255, 16)); trace(lltostr(8, 8)); trace(lltostr(0, 16)); trace(lltostr(0, 8)); trace(lltostr(5, 2)); trace(lltostr(35, 36)); trace(lltostr(-1, 16)); }
= "0" "123" "-123" "-9223372036854775808" "0xff" "010" "0x0" "0" "101" "z" "0xffffffffffffffff"

BEGIN { trace(strtoll("123")); trace(strtoll("-42")); trace(strtoll("+7x")); trace(strtoll("  \t9")); trace(strtoll("0x1f", 16)); trace(strtoll("ff", 16)); trace(strtoll("z", 36)); trace(strtoll("777", 8)); trace(strtoll("")); trace(strtoll("abc")); trace(strtoll("0x", 16)); trace(strtoll("08", 8)); trace(strtoll("9223372036854775807")); }
= 123 -42 7 9 31 255 35 511 0 0 0 0 9223372036854775807

BEGIN { s = "abc"; s = NULL; trace(s == NULL); s = "d"; trace(s == NULL); trace(s != NULL); s = 0; trace(s == 0); }
= 1 0 1 1

string s; BEGIN { trace(s); trace(s == ""); trace(s == NULL); trace(strlen(s)); }
= "" 1 0 0

this string t; BEGIN { trace(this->t); this->t = "x"; trace(this->t); } BEGIN { trace(this->t); }
= "" "x" "x"

BEGIN { self->s = "thread"; trace(self->s); self->s = strjoin(self->s, "!"); trace(self->s); self->s = 0; trace(self->s == NULL); }
= "thread" "thread!" 1

string names[int]; BEGIN { names[1] = "one"; names[2] = "two"; trace(names[1]); trace(names[2]); trace(names[3] == NULL); names[1] = 0; trace(names[1] == NULL); }
= "one" "two" 1 1

BEGIN { this->p = (char *)alloca(8); this->p[0] = 'h'; this->p[1] = 'i'; this->p[2] = '\0'; trace(stringof(this->p)); trace(stringof(this->p) == "hi"); trace(strlen(stringof(this->p))); trace(stringof(this->p + 1)); }
= "hi" 1 2 "i"

char buf[8]; BEGIN { buf[0] = 'o'; buf[1] = 'k'; trace(stringof(buf)); trace(buf == "ok"); trace(strjoin(buf, "!")); trace(buf[1]); }
= "ok" 1 "ok!" 107

BEGIN { trace(strlen("äöü")); trace(strchr("äb", 'b')); trace("\"quoted\""); trace("a\\b"); }
= 6 "b" "\"quoted\"" "a\\b"

inline string greet = "hi"; inline string both[string a, string b] = strjoin(a, b); BEGIN { trace(greet); trace(both["x", "y"]); trace(both[greet, greet]); }
= "hi" "xy" "hihi"

BEGIN { s = "0123456789012345678901234567890123456789012345678901234567890123456789"; trace(strlen(s)); trace(substr(s, 65)); trace(index(s, "901234567890123456789012345678901234567890123456789012345")); }
= 70 "56789" 9

inline string s64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"; BEGIN { trace(strlen(strjoin(strjoin(s64, s64), strjoin(s64, s64)))); }
= 255

BEGIN { trace(probeprov); trace(probemod); trace(probefunc); trace(probename); trace(probename == "BEGIN"); trace(strlen(probeprov)); s = probename; trace(s); trace(strjoin(probeprov, probename)); }
= probe:0 probe:0 probe:0 probe:0 1 6 "BEGIN" "dtraceBEGIN"

BEGIN { trace(inet_ntoa((uint32_t *)(this->a = alloca(4), *(uint32_t *)this->a = htonl(0xc0a80001), this->a))); } this void *a;
= "192.168.0.1"

this uint8_t *p; BEGIN { this->p = (uint8_t *)alloca(16); trace(inet_ntoa6(this->p)); this->p[15] = 1; trace(inet_ntoa6(this->p)); this->p[0] = 0xfe; this->p[1] = 0x80; trace(inet_ntop(10, this->p)); this->p[0] = 0; this->p[1] = 0; this->p[10] = 0xff; this->p[11] = 0xff; this->p[12] = 10; trace(inet_ntop(10, this->p)); }
= "::" "::1" "fe80::1" "::ffff:10.0.0.1"

this uint8_t *p; BEGIN { this->p = (uint8_t *)alloca(16); this->p[1] = 1; this->p[3] = 2; this->p[7] = 0x30; this->p[8] = 0xab; trace(inet_ntoa6(this->p)); trace(link_ntop(1, this->p)); trace(inet_ntoa((uint32_t *)this->p)); }
= "1:2:0:30:ab00::" "00:01:00:02:00:00" "0.1.0.2"
