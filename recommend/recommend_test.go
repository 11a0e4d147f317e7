package recommend

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// TestJudgeIsReplay: limits are judged by what a replay through the engine says.
func TestJudgeIsReplay(t *testing.T) {
	entries := readLog("wordpress-2016")[:20_000]
	traffic := collect(t, entries)
	from, to := traffic.span()
	whole := traffic.cut(from, to+1, time.Minute)
	all, _ := whole.counted()
	for _, text := range []string{"30/m", "10/m burst=40", "sliding_log 30/m", "sliding_window 30/m", "fixed_window 30/m", "sliding_log 1/s", "100/h"} {
		limit, err := sluice.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "all", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: limit}}}}})
		if err != nil {
			t.Fatal(err)
		}
		want, err := replay.Run(set, each(entries), replay.Options{Sample: -1})
		if err != nil {
			t.Fatal(err)
		}
		got, err := whole.judge(t.Context(), limit, all)
		if r := want.Rules[0]; err != nil || got.denied != r.Denied || int64(len(got.touched)) != r.KeysDenied || got.denied == 0 {
			t.Errorf("%s: %d of %d keys (%v), and replay says %d of %d", text, got.denied, len(got.touched), err, r.Denied, r.KeysDenied)
		}
	}
}

// TestSmallest: the search finds what trying all sizes finds.
func TestSmallest(t *testing.T) {
	traffic := collect(t, visitors(3, 1500, 3))
	run := newRunner(t.Context(), traffic, midnight, midnight+3*day, filled(Options{Target: Rates{0.01, 0.02}}))
	for _, algorithm := range []sluice.Algorithm{sluice.SlidingLog, sluice.FixedWindow} {
		make := func(size int64) sluice.Limit { return sluice.PerMinute(size).With(algorithm) }
		got, err := run.fit.smallest(t.Context(), make)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(1)
		for ; ; want++ {
			j, err := run.fit.part.judge(t.Context(), make(want), run.fit.counted)
			if err != nil {
				t.Fatal(err)
			}
			if run.fit.meets(&j) {
				break
			}
		}
		if got != want || want < 20 || want > 30 {
			t.Errorf("%s: %d, and trying all finds %d", algorithm, got, want)
		}
	}
}

func filled(o Options) Options {
	if err := o.fill(); err != nil {
		panic(err)
	}
	return o
}

// TestThin: too little data is no recommendation.
func TestThin(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []accesslog.Entry
		says    string
	}{
		{"nothing", nil, "no request has the key [ip]"},
		{"few keys", visitors(1, 900, 4), "900 keys that count, and 1000 are needed"},
		{"a day", visitors(1, 2000, 1), "23h59m"},
	} {
		_, err := Run(t.Context(), collect(t, c.entries), Options{})
		if thin := (*ThinError)(nil); !errors.As(err, &thin) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	traffic := collect(t, visitors(1, 10, 2))
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{Algorithms: []sluice.Algorithm{sluice.LeakyBucket}}, "holds requests rather than refusing them"},
		{Options{Algorithms: []sluice.Algorithm{sluice.WarmUp}}, "sluice compare"},
		{Options{Algorithms: []sluice.Algorithm{sluice.InFlight}}, "not for how long they ran"},
		{Options{Algorithms: []sluice.Algorithm{"sliding"}}, "take token_bucket, sliding_log"},
		{Options{Period: time.Millisecond}, "from 1s to 24h"},
		{Options{Target: Rates{Requests: 2}}, "shares above 0 and below 1"},
		{Options{Target: Rates{Keys: -1}}, "shares above 0 and below 1"},
	} {
		if _, err := Run(t.Context(), traffic, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if _, err := Collect(rule.Rule{}, each(nil)); err == nil || !strings.Contains(err.Error(), "name a key") {
		t.Error(err)
	}
	if _, err := Collect(rule.Rule{Key: []string{"adress"}}, each(nil)); err == nil {
		t.Error("no such key")
	}
}

// TestMatch: only what the rule is for counts.
func TestMatch(t *testing.T) {
	traffic, err := Collect(rule.Rule{
		Name: "a", Key: []string{"ip"}, Match: rule.Match{Paths: []string{"/a"}}, Skip: rule.Skip{IPs: []string{"10.0.0.1"}},
	}, each(visitors(1, 100, 2)))
	if err != nil || len(traffic.keys) != 99 || traffic.unmatched < 500 || traffic.keys[0].name != address(0).String() {
		t.Errorf("%v: %d keys, %d unmatched", err, len(traffic.keys), traffic.unmatched)
	}
}

// TestInterrupted: the search ends at once, and says how far it came.
func TestInterrupted(t *testing.T) {
	traffic := collect(t, visitors(1, 2000, 3))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, traffic, Options{}); r != nil || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "token_bucket, after 0 of 4 algorithms") {
		t.Errorf("%v, %v", r, err)
	}
}
