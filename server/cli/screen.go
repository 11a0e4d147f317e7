package cli

import (
	"io"
	"os"
	"strings"
)

// screen is a terminal on which a view replaces the one before it.
type screen struct{ file *os.File }

// screenOf returns nil if out is none.
func screenOf(out io.Writer) *screen {
	if !isTerminal(out) {
		return nil
	}
	return &screen{out.(*os.File)}
}

// isTerminal reports whether somebody looks at a screen, rather than a file or a pipe.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// draw writes as much of a text as fits. It goes over what is there line by line, which
// flickers less than a cleared screen.
func (s *screen) draw(text string) error {
	_, err := s.file.WriteString(frame(text, height(s.file)))
	return err
}

// frame is what a terminal of this height is sent: from the top, every line to its end,
// and nothing below. Lines that are too long are cut, and take no second one. Height 0 is
// one that nobody knows.
func frame(text string, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if height > 1 && len(lines) > height-1 { // the cursor needs a line
		lines = lines[:height-1]
	}
	const home, clearLine, clearBelow, cutLines, wrapLines = "\x1b[H", "\x1b[K", "\x1b[J", "\x1b[?7l", "\x1b[?7h"
	return cutLines + home + strings.Join(lines, clearLine+"\n") + clearLine + "\n" + clearBelow + wrapLines
}
