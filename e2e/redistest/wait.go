package redistest

import (
	"testing"
	"time"
)

// patience is how long anything that a server does by itself may take.
const patience = 30 * time.Second

// Wait polls until the condition holds. It is the one place that lets time pass:
// servers do not tell when they have finished something. After 30 seconds the test
// fails and says what did not happen.
func Wait(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("redistest: within %v it did not happen that %s", patience, what)
		}
	}
}
