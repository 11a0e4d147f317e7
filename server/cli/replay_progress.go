package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
)

// progressEvery is how often a bar moves.
const progressEvery = 200 * time.Millisecond

// showProgress draws a bar until the function that it returns is called, if somebody
// looks at a screen.
func showProgress(w io.Writer, log *accesslog.Log) (stop func()) {
	return showLine(w, func(spent time.Duration) string { return progressLine(log.Progress(), spent) })
}

// showLine draws what line returns, until the function that it returns is called.
func showLine(w io.Writer, line func(spent time.Duration) string) (stop func()) {
	if screenOf(w) == nil {
		return func() {}
	}
	done := make(chan struct{})
	var drawn sync.WaitGroup
	drawn.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-done:
				fmt.Fprint(w, "\r\x1b[K")
				return
			case <-tick.C:
				fmt.Fprint(w, "\r\x1b[K"+line(time.Duration(n)*progressEvery))
			}
		}
	})
	return func() {
		close(done)
		drawn.Wait()
	}
}

// progressLine tells how far a log was read after some time.
func progressLine(p accesslog.Progress, spent time.Duration) string {
	rate := float64(p.Lines) / spent.Seconds()
	line := fmt.Sprintf("%s lines, %s lines/s", count(p.Lines), count(int64(rate)))
	if p.Size == 0 || p.Bytes == 0 {
		return line
	}
	share := min(float64(p.Bytes)/float64(p.Size), 1)
	const width = 30
	filled := int(share * width)
	left := time.Duration(float64(spent) * (1 - share) / share).Round(time.Second)
	return fmt.Sprintf("[%s%s] %3.0f%%  %s, %v left", strings.Repeat("=", filled), strings.Repeat(" ", width-filled), share*100, line, left)
}
