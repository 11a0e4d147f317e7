package recommend

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/rule"
)

// TestWriteRules: the file says why, and is in shadow. The command's tests load it.
func TestWriteRules(t *testing.T) {
	traffic, err := Collect(rule.Rule{
		Name: "per-ip", Key: []string{"ip"}, Match: rule.Match{Methods: []string{"GET"}}, Skip: rule.Skip{IPs: []string{"192.0.2.0/24"}},
	}, each(visitors(1, 1500, 2)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), traffic, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.WriteRules(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"refuses nobody", "requests of 1,500 keys", "0.01 % of the requests and 0.1 % of the keys", "With 95 % confidence", "A client that never pauses",
		"  - name: per-ip\n    match: {\"methods\":[\"GET\"]}\n    skip: {\"ips\":[\"192.0.2.0/24\"]}\n    key: [\"ip\"]\n    mode: shadow\n    limits:\n      - ",
		"      # or: sliding_log 30/m\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

// TestWriteText: what a person reads, also of a log that wants to write on the screen.
func TestWriteText(t *testing.T) {
	entries := visitors(1, 1500, 2)
	for i := range 300 {
		entries = append(entries, accesslog.Entry{Time: midnight + day/2 + int64(i), IP: address(1 << 20), Method: "GET", Path: "/\x1b[2J", Status: 200, Agent: "\x1b]0;x\a" + strings.Repeat("long ", 40)})
	}
	r, err := Run(t.Context(), collect(t, sorted(entries)), Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.Fits[0].Inside = false
	var out bytes.Buffer
	if err := r.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 keys with 300 requests do not count", `hammering: 100 % of its requests are GET /\x1b[2J`, "(seed 1)", "ABOVE THE BOUND", "within the bound",
		"traffic has changed", "a longer log narrows it", "→ ", "█", "would have been enough in the check",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	if strings.ContainsAny(out.String(), "\x1b\a") {
		t.Error("it obeys the log")
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 1: "100 %", 0.5: "50 %", 0.0834: "8.3 %", 0.0001: "0.01 %", 0.001: "0.1 %", 0.000486: "0.049 %", 0.02: "2 %", 1e-9: "0 %"} {
		if got := percent(share); got != want {
			t.Errorf("%g is %q, want %q", share, got, want)
		}
	}
}
