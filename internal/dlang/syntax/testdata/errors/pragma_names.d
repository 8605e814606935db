/* Pragmas about names. */
/* ERROR NEXT D_PRAGMA_UNUSED "^unused #pragma attributes$" */
#pragma D attributes Stable/Stable/Common nothing
/* ERROR NEXT D_PRAGMA_UNUSED "^unused #pragma binding$" */
#pragma D binding "1.0" translator
/* ERROR NEXT D_PRAGMA_SCOPE "#pragma attributes cannot modify entity defined outside program scope" */
#pragma D attributes Stable/Stable/Common execname
#pragma D attributes Stable/Stable/Common limit
#pragma D binding "1.0" declared
#pragma D binding "1.0" assigned
#pragma D attributes Stable provider p args

inline int limit = 1;
int declared;
BEGIN { assigned = 1; }
