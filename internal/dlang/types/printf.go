package types

import (
	"kinst/internal/dformat"
	"kinst/internal/dlang/syntax"
)

// printfAction is printf(), system() and freopen(): a format and a value for
// each conversion.
func (c *checker) printfAction(x *syntax.Call, a *Action) {
	lit, ok := unparen(x.Args[0]).(*syntax.StringLit)
	if !ok {
		v := c.expr(x.Args[0])
		c.fail(x.Args[0].Pos(), "D_PRINTF_ARG_FMT", "%s( ) argument #1 is incompatible with prototype:\n\tprototype: string constant\n\t argument: %s", x.Name, c.typeName(v))
	}
	if lit.Value == "" && x.Name != "freopen" {
		c.fail(x.At, "D_PRINTF_FMT_EMPTY", "%s( ) format string is empty", x.Name)
	}
	a.Format, a.HasFormat = lit.Value, true
	f := c.format(x, lit)
	for _, arg := range x.Args[1:] {
		if ref, ok := unparen(arg).(*syntax.AggRef); ok {
			c.fail(ref.At, "D_PRINTF_ARG_TYPE", "%s( ) may not be applied to the aggregation @%s; use printa( )", x.Name, ref.Name)
		}
		v := c.expr(arg)
		c.typed(v)
		a.Args = append(a.Args, v)
	}
	used := c.conversions(x, f, a.Args)
	if used < len(a.Args) {
		c.fail(x.Args[1+used].Pos(), "D_PRINTF_ARG_EXTRA", "%s( ) prototype mismatch: only %d arguments required by this format string", x.Name, used)
	}
	for i, v := range a.Args {
		if v.Type().Base().Kind == Func {
			a.Args[i] = c.decay(v)
		}
	}
}

func (c *checker) format(x *syntax.Call, lit *syntax.StringLit) *dformat.Format {
	f, err := dformat.Parse(lit.Value)
	if err != nil {
		c.fail(lit.At, "D_PRINTF_FMT", "%s( ) %v", x.Name, err)
	}
	return f
}

// conversions checks each conversion of a format against its arguments, and
// returns how many it uses.
func (c *checker) conversions(x *syntax.Call, f *dformat.Format, args []Expr) int {
	n := 0
	next := func(conv *dformat.Conversion, tag, what string) Expr {
		if n >= len(args) {
			c.fail(x.At, tag, "%s( ) prototype mismatch: conversion #%d (%s) is missing a corresponding %s argument", x.Name, conv.Number, conv, what)
		}
		n++
		return args[n-1]
	}
	for _, conv := range f.Conversions {
		if conv.Literal() {
			continue
		}
		if conv.Aggregation {
			c.fail(x.At, "D_PRINTF_AGG_CONV", "%%@ conversion requires an aggregation and is not for use with %s( )", x.Name)
		}
		c.dynamicSizes(x, conv, next, &n)
		v := next(conv, "D_PRINTF_ARG_PROTO", "value")
		if !conv.Verb.Accepts(v.Type().Record()) {
			c.badConversion(x, v, n+1, conv)
		}
	}
	return n
}

// dynamicSizes checks the arguments that a * in a conversion takes.
func (c *checker) dynamicSizes(x *syntax.Call, conv *dformat.Conversion, next func(*dformat.Conversion, string, string) Expr, n *int) {
	var sizes []string
	if conv.DynamicWidth {
		sizes = append(sizes, "\".*\"")
	}
	if conv.DynamicPrecision {
		sizes = append(sizes, "\".*\"")
	}
	for _, what := range sizes {
		v := next(conv, "D_PRINTF_DYN_PROTO", what)
		if t := v.Type(); !t.IsInteger() || t.Base().Size > 4 {
			c.fail(v.Pos(), "D_PRINTF_DYN_TYPE", "%s( ) argument #%d is incompatible with conversion #%d prototype:\n\tconversion: %%*\n\t prototype: int\n\t  argument: %s", x.Name, *n+1, conv.Number, c.typeName(v))
		}
	}
}

func (c *checker) badConversion(x *syntax.Call, v Expr, n int, conv *dformat.Conversion) {
	c.fail(v.Pos(), "D_PRINTF_ARG_TYPE", "%s( ) argument #%d is incompatible with conversion #%d prototype:\n\tconversion: %s\n\t prototype: %s\n\t  argument: %s", x.Name, n, conv.Number, conv, conv.Verb.Wants, c.typeName(v))
}

// printaFormat checks the format of printa(): its conversions take the keys,
// and those with @ the values.
func (c *checker) printaFormat(x *syntax.Call, a *Action) {
	f, err := dformat.Parse(a.Format)
	if err != nil {
		c.fail(x.At, "D_PRINTF_FMT", "printa( ) %v", err)
	}
	keys := a.Aggs[0].Keys
	n := 0
	for _, conv := range f.Conversions {
		switch {
		case conv.Literal():
		case conv.Aggregation:

		default:
			if n >= len(keys) {
				c.fail(x.At, "D_PRINTF_ARG_PROTO", "printa( ) prototype mismatch: conversion #%d (%s) is missing a corresponding value argument", conv.Number, conv)
			}
			if !conv.Verb.Accepts(keys[n].Record()) {
				c.badConversion(x, &Current{node{x.At, keys[n]}}, n+1, conv)
			}
			n++
		}
	}
}
