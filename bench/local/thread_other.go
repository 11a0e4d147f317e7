//go:build !linux

package local

import "time"

var threadStart = time.Now()

// threadTime is the time on the wall where the thread's own is not known.
func threadTime() time.Duration { return time.Since(threadStart) }
