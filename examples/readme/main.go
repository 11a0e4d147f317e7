// Readme is the program on the README's first screen.
package main

import (
	"fmt"

	"github.com/sluice-limiter/sluice"
)

func main() {
	limiter := sluice.NewLimiter(sluice.PerSecond(10).WithBurst(3))
	for i := range 5 {
		fmt.Println("request", i, "allowed:", limiter.Allow())
	}
}
