// Package types gives every expression of a D program its type and its
// meaning: it checks the tree that package syntax parses, folds constants,
// makes C's implicit conversions explicit and resolves names, and hands on a
// tree of its own in which nothing is left to decide.
//
// The types are C's, D's own, and those of the running kernel, which are read
// from its BTF when a program first names one of them.
package types
