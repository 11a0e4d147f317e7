package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Result is how a program fared with a log.
type Result struct {
	Name   string
	Lines  int
	Took   time.Duration // by the clock on the wall
	CPU    time.Duration // of all cores
	Memory int64         // most that was resident, in bytes
	Note   string
}

// Rate is how many lines it took in a second.
func (r Result) Rate() float64 { return float64(r.Lines) / r.Took.Seconds() }

// run runs a program and measures it.
func run(name string, lines int, command ...string) (Result, []byte, error) {
	var out, complaint bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	start := time.Now()
	err := cmd.Run()
	r := Result{Name: name, Lines: lines, Took: time.Since(start)}
	if err != nil {
		return r, nil, fmt.Errorf("%s: %w: %.500s", name, err, complaint.String())
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.Memory = usage.Maxrss * 1024
		r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return r, out.Bytes(), nil
}

// replayed is what we read of the report.
type replayed struct {
	Lines struct{ Total, Parsed, Rejected, Late int }
	Rules []struct{ Requests, Denied, Keys int }
}

// Ours runs the command over a log, and checks that it lost no line.
func Ours(program, path string, lines int, algorithm string, more ...string) (Result, error) {
	args := append([]string{program, "replay", "--key", "ip", "--limit", "60/m", "--algorithm", algorithm, "--json"}, more...)
	r, out, err := run("sluice replay "+algorithm, lines, append(args, path)...)
	if err != nil {
		return r, err
	}
	var report replayed
	if err := json.Unmarshal(out, &report); err != nil {
		return r, fmt.Errorf("%s: %w", r.Name, err)
	}
	l := report.Lines
	if l.Total != lines || l.Parsed+l.Rejected != l.Total || l.Rejected != 0 || l.Late != 0 {
		return r, fmt.Errorf("%s: of %d lines: %+v", r.Name, lines, l)
	}
	r.Note = fmt.Sprintf("%d keys, %d refused", report.Rules[0].Keys, report.Rules[0].Denied)
	return r, nil
}

// Goaccess runs goaccess over the same log.
func Goaccess(path string, lines int) (Result, error) {
	r, _, err := run("goaccess", lines, "goaccess", path, "--log-format=COMBINED", "--no-global-config", "--no-progress", "-o", "json")
	r.Note = "counts, decides nothing"
	return r, err
}
