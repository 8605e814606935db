#!/usr/sbin/dtrace -s
#pragma D option quiet
/* ERROR END D_EMPTY "empty D program translation unit" */
