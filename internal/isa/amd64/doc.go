// Package amd64 takes x86-64 machine code apart: where an instruction ends,
// what it does to control flow, memory and the processor, and how GNU objdump
// writes it in AT&T and Intel syntax.
//
// Everything is read from two tables of instructions, opcodes.txt and vex.txt,
// one row for each form, in the notation of the opcode maps of the Intel
// manual. They are compiled when the first instruction is decoded.
//
// golang.org/x/arch/x86/x86asm is not used for it: it takes endbr64 for a lone
// prefix and vzeroupper for four bytes, does not know some hundred system
// instructions of the kernel's text, and gives up what a listing must show
// (unused prefixes, the width of a displacement, zeroing). A test holds it
// against this package as a second opinion.
package amd64
