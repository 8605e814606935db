// Package examples holds whole programs in D. Each says at its beginning what
// it shows and how it is called; each is run by a test, on real kernels, on
// work whose outcome is known.
package examples
