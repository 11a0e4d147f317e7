package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A verdict is what a run of the tests said.
type verdict struct {
	passed   bool
	compiled bool
	by       string // the test that failed first, or what ended the run
	output   string
}

// event is a line of go test -json that matters here.
type event struct {
	Action, Package, Test, Output, FailedBuild string
}

// buildAllowance is how long compiling may take on top of the limit for the tests.
const buildAllowance = 5 * time.Minute

// goTest runs the tests in the root folder, with an overlay file unless it is "".
// It runs no vet: a mutant that only vet notices is not killed.
func goTest(ctx context.Context, opts *options, tests []string, overlay string) (verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, opts.timeout+buildAllowance)
	defer cancel()
	args := []string{"test", "-json", "-vet=off", "-count=1", "-failfast", "-timeout=" + opts.timeout.String()}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, tests...)...)
	cmd.Dir = opts.root
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go test passes it on
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return verdict{}, fmt.Errorf("go test %s was stopped: %w", strings.Join(tests, " "), ctx.Err())
	}
	if cmd.ProcessState == nil {
		return verdict{}, fmt.Errorf("cannot run the go command: %w", err)
	}
	v := judge(stdout.Bytes())
	v.passed = err == nil
	v.output += stderr.String()
	if !v.passed && v.compiled && v.by == "" {
		v.compiled = false // go test failed before any test did: bad pattern, bad overlay
	}
	return v, nil
}

// judge reads the events of go test -json.
func judge(stream []byte) verdict {
	v := verdict{compiled: true}
	var output strings.Builder
	for line := range bytes.Lines(stream) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			output.Write(line) // not every message of the go command is an event
			continue
		}
		output.WriteString(e.Output)
		switch {
		case e.FailedBuild != "", e.Action == "build-fail":
			v.compiled = false
		case e.Action == "output" && strings.HasPrefix(e.Output, "panic: test timed out"):
			v.by = "running out of time"
		case e.Action == "fail" && v.by == "":
			v.by = failed(e)
		}
	}
	v.output = output.String()
	return v
}

// failed names what failed: the test, or the package if its program ended on its own.
func failed(e event) string {
	short := e.Package[strings.LastIndexByte(e.Package, '/')+1:]
	if e.Test == "" {
		return short + " (crashed)"
	}
	return short + "." + e.Test
}

// baseline runs every distinct set of tests once without any change; all must pass.
func baseline(ctx context.Context, opts *options, mutants []*mutant, w io.Writer) error {
	var done []string
	for _, m := range mutants {
		key := strings.Join(m.tests, " ")
		if slices.Contains(done, key) {
			continue
		}
		done = append(done, key)
		start := time.Now()
		v, err := goTest(ctx, opts, m.tests, "")
		if err != nil {
			return err
		}
		if !v.passed {
			return fmt.Errorf("the tests fail already without a mutant, so that killing proves nothing: go test %s\n%s", key, v.output)
		}
		fmt.Fprintf(w, "unchanged  %s passes (%.1fs)\n", key, time.Since(start).Seconds())
	}
	return nil
}
