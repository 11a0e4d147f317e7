// Package frame is what the benchmarks share: their flags, where a run takes place, the
// program that is measured, and how figures are printed.
package frame

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// CPU is the name of the processor.
func CPU() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, "\t :"))
		}
	}
	return "unknown processor"
}

// Versions are those of the given modules as they were linked in.
func Versions(modules []string) map[string]string {
	out := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	for _, m := range info.Deps {
		if m.Replace == nil && slices.Contains(modules, m.Path) {
			out[m.Path] = m.Version
		}
	}
	return out
}

// Ratio prints a in times of b; a dash if there is not both.
func Ratio(a, b float64, ok bool) string {
	if !ok || b == 0 {
		return "-"
	}
	return strconv.FormatFloat(a/b, 'f', 2, 64)
}

// Percent prints a share with two significant digits, so that a rare event is
// not rounded away.
func Percent(share float64) string {
	p := 100 * share
	digits := 0
	for p > 0 && p*math.Pow10(digits) < 10 && digits < 6 {
		digits++
	}
	return fmt.Sprintf("%.*f", digits, p)
}

// Join puts two remarks together.
func Join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// Median is the middle of the figures.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
