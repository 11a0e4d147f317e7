package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
)

// TestCompareKeys: a key is one, whatever agents its requests name.
func TestCompareKeys(t *testing.T) {
	var entries []*accesslog.Entry
	for i, agent := range []string{"Firefox", "Googlebot", "", "Firefox"} {
		entries = append(entries, entry(i*1000, 1, agent))
	}
	r := run(t, oneRule(t, "10/h", "ip"), slices.Values(entries), replay.Options{Other: oneRule(t, "1/h", "ip")})
	c := r.Comparison
	if c.NewlyAll != (replay.Total{Requests: 3, Keys: 1}) || len(c.Newly) != 1 || c.Newly[0].Requests != 3 || c.Newly[0].Good || c.GoneAll.Keys != 0 {
		t.Errorf("%+v", c)
	}
	back := run(t, oneRule(t, "1/h", "ip"), slices.Values(entries), replay.Options{Other: oneRule(t, "10/h", "ip")}).Comparison
	if back.GoneAll != c.NewlyAll || back.NewlyAll.Keys != 0 {
		t.Errorf("%+v", back)
	}
}

// TestPercentiles: of a hundred keys, of which number i makes i requests, the percentile
// p is p: one percent make more than the 99th.
func TestPercentiles(t *testing.T) {
	var entries []*accesslog.Entry
	for key := byte(1); key <= 100; key++ {
		for range key {
			entries = append(entries, entry(0, key, ""))
		}
	}
	got := run(t, oneRule(t, "1000/s", "ip"), slices.Values(entries), replay.Options{}).Rules[0].KeyPeaks[0]
	got.Over = 0
	if want := (replay.KeyPeaks{P50: 50, P90: 90, P95: 95, P99: 99, P999: 100, P9999: 100, Max: 100}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestNoKeyInTheLog: where no rule found its key, the report says where to look, and in
// which zone its times are.
func TestNoKeyInTheLog(t *testing.T) {
	r := run(t, oneRule(t, "1/s", "user"), slices.Values([]*accesslog.Entry{entry(0, 1, "")}), replay.Options{})
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"UTC", "1 matched by no rule: look whether the log tells"} {
		if !strings.Contains(text.String(), want) {
			t.Error(fmt.Sprintf("lacks %q:\n", want) + text.String())
		}
	}
}

// TestFarStamps: a wrong stamp far in the future counts there, not somewhere in between.
func TestFarStamps(t *testing.T) {
	far := entry(0, 1, "")
	far.Time += 300 * 365 * 86_400 * 1e6
	entries := []*accesslog.Entry{entry(0, 1, ""), entry(0, 1, ""), far}
	line := run(t, oneRule(t, "1/s", "ip"), slices.Values(entries), replay.Options{}).Rules[0].Timeline
	if n := len(line.Requests); line.Requests[0] != 2 || n < 100 || line.Requests[n-1] != 1 {
		t.Errorf("%d steps: %v", n, line.Requests)
	}
}

// TestOvertaken: where as many requests are refused only live as only by prediction, the
// report says what that may be.
func TestOvertaken(t *testing.T) {
	for onlyHere, want := range map[int64]bool{0: false, 2: true} {
		r := &replay.Report{Live: &replay.Live{Sent: 9, OnlyLive: 3, OnlyHere: onlyHere}}
		var text strings.Builder
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "up to 4 of these"); got != want {
			t.Errorf("%d: %s", onlyHere, text.String())
		}
	}
}
