//go:build !race

package recommend

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/rule"
)

// TestRecommend: of a log whose clients make up to 30 requests in a minute.
func TestRecommend(t *testing.T) {
	traffic := collect(t, visitors(1, 4000, 4))
	r, err := Run(t.Context(), traffic, Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Fits) != len(Algorithms) || r.Keys != 4000 || r.Labels.Keys != 0 || r.Days < 3.9 {
		t.Errorf("%+v", r)
	}
	for _, f := range r.Fits {
		if f.Algorithm != sluice.TokenBucket && f.Limit.Count != 30 {
			t.Errorf("%s", f.Limit)
		}
		if f.Fitted.Denied != 0 || f.Bound.Keys < 7/2900. || f.Bound.Keys > 8.5/2700. || !f.Inside || f.Ratio > 1.1 {
			t.Errorf("%+v", f)
		}
		last := f.Front[0]
		for _, p := range f.Front[1:] {
			if p.Most < last.Most || p.Rates.Keys > last.Rates.Keys || p.Rates.Requests > last.Rates.Requests || p.Bound.Keys < p.Rates.Keys || p.Bound.Requests < p.Rates.Requests {
				t.Errorf("%s: %+v after %+v", f.Algorithm, p, last)
			}
			last = p
		}
	}
	again, err := Run(t.Context(), collect(t, visitors(1, 4000, 4)), Options{Seed: 5})
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(again)
	if err != nil || string(a) != string(b) {
		t.Error("the same seed gives another answer")
	}
	var back Report
	if err := json.Unmarshal(a, &back); err != nil || back.Fits[0].Limit != r.Fits[0].Limit {
		t.Errorf("%v: it does not read what it writes", err)
	}
}

// TestRecommendedRules: the file says why, and is in shadow. The command's tests load it.
func TestRecommendedRules(t *testing.T) {
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

// TestRecommendedText: what a person reads, also of a log that wants to write on the screen.
func TestRecommendedText(t *testing.T) {
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
