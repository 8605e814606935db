/* Control lines. */
# pragma D option quiet
	#pragma D option bufsize=4m
#pragma something else entirely
#ident "ignored"
#
#pragma
#pragma D
#pragma D attributes Stable/Evolving/Common f
#pragma D attributes private f
#pragma D attributes Evolving/Evolving/ISA provider p args
#pragma D binding "1.6.3" f
#pragma D depends_on module vmlinux
#pragma D depends_on provider syscall
#pragma D ident "ignored"
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #pragma option <option>=<val>" */
#pragma D option
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #pragma option <option>=<val>" */
#pragma D option "quiet"
/* ERROR NEXT D_PRAGMA_MALFORM "superfluous arguments specified for #pragma option" */
#pragma D option bufsize = 4m
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #pragma attributes <attributes> <ident>" */
#pragma D attributes Stable
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #pragma attributes" */
#pragma D attributes Stable provider p
/* ERROR NEXT D_PRAGMA_INVAL "invalid attributes specified by #pragma attributes" */
#pragma D attributes Stable/Sturdy/Common f
/* ERROR NEXT D_PRAGMA_INVAL "invalid attributes" */
#pragma D attributes Stable/Stable/Common/Extra f
/* ERROR NEXT D_PRAGMA_INVAL "invalid component "wheel" in attribute #pragma for provider p" */
#pragma D attributes Stable/Stable/Common provider p wheel
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #pragma binding "version" <ident>" */
#pragma D binding 1.0 f
/* ERROR NEXT D_PRAGMA_INVAL "invalid version string specified by #pragma binding" */
#pragma D binding "1.x" f
/* ERROR NEXT D_PRAGMA_INVAL "invalid version string" */
#pragma D binding "1.2.3.4" f
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #pragma depends_on <class> <name>" */
#pragma D depends_on module
/* ERROR NEXT D_PRAGMA_INVAL "invalid class planet specified by #pragma depends_on" */
#pragma D depends_on planet mars
/* ERROR NEXT D_PRAGMA_DEPEND "main program may not explicitly depend on a library" */
#pragma D depends_on library net.d
/* ERROR NEXT D_PRAGMA_INVAL "invalid D pragma: wheel" */
#pragma D wheel
/* ERROR NEXT D_PRAGERR "#error: out of paper and ink" */
#error out of "paper" and ink
/* ERROR NEXT D_PRAGERR "#error: no" */
#pragma error no
/* ERROR NEXT D_PRAGCTL_INVAL "invalid control directive: #wheel" */
#wheel
/* ERROR NEXT D_PRAGCTL_INVAL "invalid control directive: #define \(the preprocessor runs only under -C\)" */
#define X 1
/* ERROR NEXT D_PRAGCTL_INVAL "invalid control directive: #include" */
#include <stdio.h>
/* ERROR NEXT D_PRAGCTL_INVAL "^invalid control directive$" */
#"x"
/* ERROR NEXT D_STR_NL "newline encountered in string literal" */
#pragma D binding "1.0
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #line" */
#line
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #line" */
#line x
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #line" */
#line 3 file
/* ERROR NEXT D_PRAGMA_MALFORM "malformed #line" */
#line 3 "file" x
BEGIN
{
	x = 1;
	/* ERROR NEXT D_PRAGCTL_INVAL "invalid control directive: #wheel" */
	#wheel
	x = 2;
}
