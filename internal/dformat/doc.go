// Package dformat reads the format strings of D's printf() and printa() and
// renders single values as they ask.
//
// Parse gives a Format as a value: the compiler checks its conversions against
// the types of the arguments (Verb.Accepts), the consumer prints with it. For
// every conversion, flag, width and precision that C's printf has too, the text
// is the one C gives.
package dformat
