// Package listing holds the tests of what "kinst disas" and "kinst -l" print of
// a guest's kernel, against GNU objdump and gdb on the host, over text that is
// read without kinst.
package listing
