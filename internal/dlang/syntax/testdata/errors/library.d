/* CONFIG library */
#pragma D depends_on library net.d
inline int x = 1;
