// Package syntax turns D source text into a tree, and a tree back into D.
//
// Parse reads a whole program: a script, or the text of one of dtrace(1)'s -n,
// -f, -m, -P and -i options. It expands macro variables ($1, $pid), obeys line
// directives, keeps the `#pragma D` lines beside the declarations, and reports
// every error it finds, each with the place and with the tag that libdtrace
// gives it. The tree says what is written, not what it means: whether a name
// is known, whether types fit, belongs to package types.
//
// The grammar is that of libdtrace's dt_grammar.y with FreeBSD's if and else.
// Each function of the parser carries the production that it reads.
package syntax
