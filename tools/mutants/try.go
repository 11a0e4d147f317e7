package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// An outcome is what became of a mutant.
type outcome string

const (
	killed   outcome = "killed"
	survived outcome = "SURVIVED"
	stale    outcome = "STALE"
	broken   outcome = "BROKEN"
	fits     outcome = "fits" // -n: the original was found, nothing was run
)

// A report is the outcome of one mutant, why, and what the tests printed.
type report struct {
	outcome outcome
	why     string
	output  string
}

// tryAll tries the mutants, some at a time, prints each outcome and a summary, and tells
// whether all are as they should be.
func tryAll(ctx context.Context, opts *options, mutants []*mutant, w io.Writer) bool {
	var (
		group  sync.WaitGroup
		mu     sync.Mutex // guards counts and w
		counts = map[outcome]int{}
		slots  = make(chan struct{}, opts.jobs)
	)
	for _, m := range mutants {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			start := time.Now()
			r := try(ctx, opts, m)
			mu.Lock()
			defer mu.Unlock()
			counts[r.outcome]++
			printReport(w, opts, m, r, time.Since(start))
		})
	}
	group.Wait()
	fmt.Fprintf(w, "mutants: %d tried, %d killed, %d survived, %d stale, %d broken\n",
		len(mutants), counts[killed], counts[survived], counts[stale], counts[broken])
	return counts[killed]+counts[fits] == len(mutants)
}

func printReport(w io.Writer, opts *options, m *mutant, r report, took time.Duration) {
	fmt.Fprintf(w, "%-10s %s (%.1fs)", r.outcome, m.name, took.Seconds())
	if r.why != "" {
		fmt.Fprintf(w, ": %s", r.why)
	}
	fmt.Fprintln(w)
	if r.output != "" && (opts.verbose || r.outcome == broken) {
		fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(strings.TrimSpace(r.output), "\n", "\n    "))
	}
}

// try applies one mutant and runs its tests.
func try(ctx context.Context, opts *options, m *mutant) report {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return report{broken, "cannot make a temporary folder: " + err.Error(), ""}
	}
	defer os.RemoveAll(dir)
	overlay, err := m.overlay(opts.root, dir)
	switch {
	case errors.Is(err, errStale):
		return report{stale, err.Error(), ""}
	case err != nil:
		return report{broken, err.Error(), ""}
	case opts.dry:
		return report{fits, "", ""}
	}
	v, err := goTest(ctx, opts, m.tests, overlay)
	switch {
	case err != nil:
		return report{broken, err.Error(), ""}
	case v.passed:
		return report{survived, fmt.Sprintf("%s passed; listed at line %d", strings.Join(m.tests, " "), m.line), v.output}
	case !v.compiled:
		return report{broken, "does not compile", v.output}
	}
	return report{killed, "by " + v.by, v.output}
}

// overlay writes the changed file and the overlay that names it to dir.
func (m *mutant) overlay(root, dir string) (string, error) {
	original := filepath.Join(root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("%w: cannot read the file: %w", errStale, err)
	}
	changed, err := m.apply(string(source))
	if err != nil {
		return "", err
	}
	// The go command knows a file by its name: keep it, it may end in _linux.go.
	mutated := filepath.Join(dir, filepath.Base(original))
	if err := os.WriteFile(mutated, []byte(changed), 0o600); err != nil {
		return "", fmt.Errorf("cannot write the changed file: %w", err)
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", fmt.Errorf("cannot encode the overlay: %w", err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return "", fmt.Errorf("cannot write the overlay: %w", err)
	}
	return name, nil
}
