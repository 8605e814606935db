// Package readme holds the test of the one-liners in README.md.
package readme
