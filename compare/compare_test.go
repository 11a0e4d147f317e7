package compare_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/compare"
)

// run compares all algorithms at a rate.
func run(t *testing.T, pattern, limit string, seed uint64) *compare.Report {
	t.Helper()
	l := sluice.MustParse(limit)
	all, err := compare.Algorithms(l)
	if err != nil {
		t.Fatal(err)
	}
	return runAll(t, pattern, seed, all)
}

func runAll(t *testing.T, pattern string, seed uint64, limits []sluice.Limit) *compare.Report {
	t.Helper()
	traffic, err := compare.Pattern(pattern, limits[0], seed)
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare.Run(traffic, limits)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEdge: the figures of the pattern that fixed windows fear can be worked out by hand:
// twice the limit around a boundary, where the exact log admits it once.
func TestEdge(t *testing.T) {
	r := run(t, "edge", "100/s", 1)
	want := map[string][3]int64{ // admitted, in any period, falsely denied
		"fixed_window":   {200, 200, 0},
		"sliding_window": {100, 100, 0},
		"weighted":       {109, 109, 0},
		"sliding_log":    {100, 100, 0},
		"token_bucket":   {119, 119, 0},
		"leaky_bucket":   {120, 100, 0},
		"warm_up":        {45, 38, 155}, // cold: it never came to its rate, so that no denial was due
	}
	if len(r.Results) != 7 || r.Requests != 200 {
		t.Fatalf("%d results of %d requests", len(r.Results), r.Requests)
	}
	for _, x := range r.Results {
		if w := want[x.Algorithm]; w != [3]int64{x.Admitted, x.WorstPeriod, x.FalselyDenied} {
			t.Errorf("%s: %d admitted, %d in any period, %d falsely denied, want %v", x.Algorithm, x.Admitted, x.WorstPeriod, x.FalselyDenied, w)
		}
		if x.Algorithm == "leaky_bucket" && (x.Burst != 10 || x.Waited != 119) {
			t.Errorf("a leaky bucket of 100/s lets %d out in 100 ms, %d waited", x.Burst, x.Waited)
		}
	}
}

// TestPromises: whatever the traffic, no algorithm passes more than its promise, the
// exact log denies nothing for nothing, and the figures fit together.
func TestPromises(t *testing.T) {
	for _, pattern := range compare.Patterns() {
		for seed := range uint64(3) {
			for _, limit := range []string{"20/s", "7/m", "100/10s"} {
				r := run(t, pattern, limit, seed)
				n := r.Results[0].Limit.Count
				for i := range r.Results {
					x := &r.Results[i]
					most := map[string]int64{"never above N": n, "below 2N": 2*n - 1}[x.Promise]
					if most == 0 {
						most = 2 * n
					}
					if x.Algorithm == "warm_up" { // it counts in fractions, and rounds to microseconds
						most++
					}
					if x.WorstPeriod > most || x.Exceeded != max(x.WorstPeriod-n, 0) {
						t.Errorf("%s, seed %d: %v let %d pass in a period", pattern, seed, x.Limit, x.WorstPeriod)
					}
					if x.FalselyDenied > x.Denied || x.FalselyDenied > 0 && x.Algorithm != "weighted" && x.Algorithm != "warm_up" {
						t.Errorf("%s, seed %d: %v denied %d for nothing", pattern, seed, x.Limit, x.FalselyDenied)
					}
					checkCourses(t, r, x)
				}
			}
		}
	}
}

// checkCourses: what is drawn is what was counted.
func checkCourses(t *testing.T, r *compare.Report, x *compare.Result) {
	t.Helper()
	var offered, yes, no int64
	for i := range r.Offered {
		offered, yes, no = offered+r.Offered[i], yes+x.Yes[i], no+x.No[i]
	}
	if offered != r.Requests || x.Admitted+x.Denied != r.Requests || no != x.Denied || yes > x.Admitted || yes < x.Admitted-x.Waited {
		t.Errorf("%s %v: %d offered, %d and %d drawn; %+v", r.Traffic, x.Limit, offered, yes, no, x)
	}
	if peak := slices.Max(x.Within); peak != x.WorstPeriod && x.Waited == 0 {
		t.Errorf("%s %v: a peak of %d is drawn, %d counted", r.Traffic, x.Limit, peak, x.WorstPeriod)
	}
}

// TestSmoothness: a leaky bucket is even under load, and a smaller burst is smoother.
func TestSmoothness(t *testing.T) {
	r := run(t, "steady", "20/s", 1)
	for _, x := range r.Results {
		if x.Algorithm == "leaky_bucket" && x.Unevenness != 0 {
			t.Errorf("unevenness of a leaky bucket: %v", x.Unevenness)
		}
		if x.Algorithm == "fixed_window" && math.Abs(x.Unevenness-0.55) > 0.01 {
			t.Errorf("unevenness of a fixed window: %v", x.Unevenness)
		}
	}
	r = runAll(t, "on-off", 1, []sluice.Limit{sluice.MustParse("token_bucket 20/s burst=20"), sluice.MustParse("token_bucket 20/s burst=2")})
	if large, small := r.Results[0], r.Results[1]; small.Unevenness >= large.Unevenness || small.Burst >= large.Burst || small.FalselyDenied == 0 || small.WorstPeriod > 22 {
		t.Errorf("%+v\n%+v", large, small)
	}
}

// TestSame: one seed is one report, another one another.
func TestSame(t *testing.T) {
	a, b := run(t, "poisson", "20/s", 1), run(t, "poisson", "20/s", 1)
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, run(t, "poisson", "20/s", 2)) {
		t.Error("the seed does not decide")
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back compare.Report
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(*a, back) {
		t.Errorf("%v: JSON changes it:\n%s", err, text)
	}
}

func TestRefused(t *testing.T) {
	for limit, want := range map[string]string{
		"10/s refill=interval":    "not for all algorithms",
		"fixed_window 10/s":       "not for all algorithms",
		"10/mo zone=Europe/Paris": "not for all algorithms",
	} {
		if _, err := compare.Algorithms(sluice.MustParse(limit)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", limit, err)
		}
	}
	for limit, want := range map[string]string{"0/s": "no pattern suits", "unlimited": "no pattern suits", "1e6/s": "too many requests"} {
		if _, err := compare.Pattern("edge", sluice.MustParse(limit), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", limit, err)
		}
	}
	ten := sluice.PerSecond(10)
	if _, err := compare.Pattern("egde", ten, 1); err == nil || !strings.Contains(err.Error(), `unknown pattern "egde": use one of steady`) {
		t.Error(err)
	}
	traffic, err := compare.Pattern("edge", ten, 1)
	if err != nil || traffic.Requests() != 20 {
		t.Fatal(err)
	}
	if _, err := compare.Run(&compare.Traffic{}, []sluice.Limit{ten}); err == nil {
		t.Error("no traffic is compared")
	}
	for _, limits := range [][]sluice.Limit{nil, {{Count: -1}}, {sluice.MustParse("unlimited")}} {
		if _, err := compare.Run(traffic, limits); err == nil {
			t.Errorf("%v is compared", limits)
		}
	}
}

// TestMeasure: a clock that goes by 1 ms each time it is read makes 10,000 decisions take
// 100 ns each.
func TestMeasure(t *testing.T) {
	r := run(t, "edge", "10/s", 1)
	now := time.Unix(0, 0)
	if err := r.Measure(t.Context(), func() time.Time { now = now.Add(time.Millisecond); return now }); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || strings.Count(text.String(), "100 ns here") != 7 {
		t.Errorf("%v\n%s", err, &text)
	}
}
