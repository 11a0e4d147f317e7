//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// height is how many lines a terminal has; 0 if it does not say.
func height(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Row)
}
