package engine_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails if goroutines are left when all tests are over.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	deadline := time.After(5 * time.Second)
	for runtime.NumGoroutine() > before && code == 0 {
		select {
		case <-deadline:
			stacks := make([]byte, 1<<20)
			fmt.Printf("goroutines are left:\n%s\n", stacks[:runtime.Stack(stacks, true)])
			code = 1
		case <-time.After(10 * time.Millisecond):
		}
	}
	os.Exit(code)
}
