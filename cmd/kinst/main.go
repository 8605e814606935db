// Kinst traces any instruction of any kernel function, with programs in D.
package main

import (
	"os"

	"kinst/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args))
}
