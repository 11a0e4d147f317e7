package replay

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/sluice-limiter/sluice/bench/frame"
)

// Config says what is measured.
type Config struct {
	Program string // the command sluice
	Log     string // a real log, by gzip
	Folder  string // for large files, which the caller removes
	Lines   int
	Keys    int
	Rounds  int // of which the fastest counts
}

// The bars.
const (
	wantRate   = 1_000_000
	wantMemory = 300 << 20
)

// Run measures, and prints a table and a line for each.
func Run(c Config, out io.Writer) error {
	fmt.Fprintf(out, "## replay\n\n%s, %d cores, %s. The fastest of %d rounds of the whole command, file in the page cache.\n\n", frame.CPU(), runtime.NumCPU(), runtime.Version(), c.Rounds)
	fmt.Fprint(out, "| program | lines | lines/s | CPU s | MB | |\n|---|---|---|---|---|---|\n")
	large := filepath.Join(c.Folder, "large.log")
	lines, err := Repeat(c.Log, large, c.Lines, 40)
	if err != nil {
		return err
	}
	var ours Result
	for _, algorithm := range []string{"sliding_log", "token_bucket"} {
		r, err := fastest(c.Rounds, func() (Result, error) { return Ours(c.Program, large, lines, algorithm) })
		if err != nil {
			return err
		}
		if ours.Name == "" {
			ours = r
		}
		r.print(out)
	}
	if _, err := exec.LookPath("goaccess"); err == nil {
		r, err := Goaccess(large, lines)
		if err != nil {
			return err
		}
		r.print(out)
		fmt.Fprintf(out, "\nsluice replay is %s times as fast as goaccess.\n", frame.Ratio(ours.Rate(), r.Rate(), true))
	} else {
		fmt.Fprintln(out, "\ngoaccess is not installed: not compared.")
	}
	return errors.Join(c.memory(out), bar(out, "lines/s", ours.Rate(), wantRate))
}

// memory measures a log with many keys.
func (c Config) memory(out io.Writer) error {
	many := filepath.Join(c.Folder, "keys.log")
	lines, err := ManyKeys(many, c.Keys)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d keys:\n\n| program | lines | lines/s | CPU s | MB | |\n|---|---|---|---|---|---|\n", c.Keys)
	var most int64
	for _, algorithm := range []string{"token_bucket", "sliding_log"} {
		r, err := Ours(c.Program, many, lines, algorithm)
		if err != nil {
			return err
		}
		r.print(out)
		most = max(most, r.Memory)
	}
	if c.Keys <= 1_000_000 && most > wantMemory {
		return fmt.Errorf("%d MB for %d keys, want at most %d", most>>20, c.Keys, wantMemory>>20)
	}
	return nil
}

func bar(out io.Writer, what string, got, want float64) error {
	fmt.Fprintf(out, "\nbar: %.0f %s, want %.0f\n", got, what, want)
	if got < want {
		return fmt.Errorf("%.0f %s, want %.0f (is the machine busy?)", got, what, want)
	}
	return nil
}

func fastest(rounds int, measure func() (Result, error)) (best Result, err error) {
	for range rounds {
		r, err := measure()
		if err != nil {
			return r, err
		}
		if best.Name == "" || r.Took < best.Took {
			best = r
		}
	}
	return best, nil
}

func (r Result) print(out io.Writer) {
	fmt.Fprintf(out, "| %s | %d | %.0f | %.1f | %d | %s |\n", r.Name, r.Lines, r.Rate(), r.CPU.Seconds(), r.Memory>>20, r.Note)
}
