// Command goroutines calls functions on stacks that grow, and so are moved.
package main

import (
	"fmt"
	"os"
	"sync"
)

//go:noinline
func deep(n int) int {
	var room [16]int
	room[n%16] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + room[n%16]
}

func main() {
	sums := make([]int, 20)
	var wait sync.WaitGroup
	for i := range sums {
		wait.Go(func() { sums[i] = deep(20 * i) })
	}
	wait.Wait()
	if err := os.WriteFile(os.Args[1], []byte(fmt.Sprintln(sums)), 0o666); err != nil {
		panic(err)
	}
}
