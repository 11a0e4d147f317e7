//go:build unix

package app

import "syscall"

// descriptors returns how many files this process may have open, 0 if nobody knows.
func descriptors() int64 {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0
	}
	return int64(min(uint64(r.Cur), 1<<62))
}
