package app

import "golang.org/x/sys/unix"

// monotonic returns the system's monotonic clock in µs.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano() / 1000
}
