//go:build !linux

package app

// monotonic is for systemd, which is not here.
func monotonic() int64 { return 0 }
