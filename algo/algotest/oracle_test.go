package algotest

import (
	"math/big"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
)

// TestOracle checks the judge itself by hand-made cases: a log, a question, and
// the answer that follows from the definition.
func TestOracle(t *testing.T) {
	bucket := algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: 1e6, Burst: 20}
	interval := algo.Spec{Kind: algo.IntervalBucket, Count: 3, Period: 10, Burst: 7}
	leaky := algo.Spec{Kind: algo.LeakyBucket, Count: 1, Period: 10, Burst: 2, MaxWait: 15}
	fixed := algo.Spec{Kind: algo.FixedWindow, Count: 5, Period: 100}
	first, calendar := fixed, fixed
	first.FirstHit = true
	calendar.Bounds = []int64{100, 150, 180}
	sliding := algo.Spec{Kind: algo.SlidingWindow, Count: 5, Period: 100, Sub: 10}
	weighted := algo.Spec{Kind: algo.WeightedWindow, Count: 10, Period: 100}
	logs := algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 2, Period: 10}, {Count: 3, Period: 100}}}
	warm := algo.Spec{Kind: algo.WarmUp, Count: 2, Period: 1e6, Warm: 4e6, Cold: 3}
	for name, c := range map[string]struct {
		def         algo.Spec
		log         []Event
		at          int64
		cost        int64
		patience    int64
		want        Answer
		left, reset int64
	}{
		"full":            {bucket, nil, 5, 20, 0, Answer{Allowed: true}, 20, 0},
		"too much":        {bucket, nil, 5, 21, 0, Answer{Never: true}, 20, 0},
		"empty":           {bucket, []Event{{5, 20}}, 5, 1, 0, Answer{Retry: 100_000}, 0, 2e6},
		"wait":            {bucket, []Event{{5, 20}}, 5, 1, 100_000, Answer{Allowed: true, Wait: 100_000}, 0, 2e6},
		"impatient":       {bucket, []Event{{5, 20}}, 5, 1, 99_999, Answer{Retry: 1}, 0, 2e6},
		"bucket refund":   {bucket, []Event{{5, 20}, {5, -30}, {5, 3}}, 5, 0, 0, Answer{Allowed: true}, 17, 300_000},
		"steps":           {interval, []Event{{5, 4}, {11, 2}}, 14, 2, 0, Answer{Retry: 1}, 1, 11},
		"after a step":    {interval, []Event{{5, 4}, {11, 2}}, 15, 2, 0, Answer{Allowed: true}, 4, 10},
		"steps restart":   {interval, []Event{{5, 1}, {18, 7}}, 20, 1, 0, Answer{Retry: 8}, 0, 28},
		"queue":           {leaky, []Event{{100, 1}}, 100, 1, 10, Answer{Allowed: true, Wait: 10}, 2, 10},
		"queue full":      {leaky, []Event{{100, 3}}, 101, 1, 1e9, Answer{Retry: 14}, 0, 29},
		"limit's wait":    {leaky, []Event{{100, 2}}, 101, 1, 1e9, Answer{Retry: 4}, 1, 19},
		"window":          {fixed, []Event{{199, 5}}, 199, 1, 0, Answer{Retry: 1}, 0, 1},
		"next window":     {fixed, []Event{{199, 5}}, 200, 5, 0, Answer{Allowed: true}, 5, 0},
		"first hit":       {first, []Event{{150, 5}}, 249, 1, 0, Answer{Retry: 1}, 0, 1},
		"calendar":        {calendar, []Event{{149, 5}, {151, 2}}, 160, 4, 0, Answer{Retry: 20}, 3, 20},
		"after the last":  {calendar, []Event{{181, 2}}, 209, 4, 0, Answer{Retry: 1}, 3, 1},
		"before first":    {calendar, []Event{{51, 2}}, 99, 4, 0, Answer{Retry: 1}, 3, 1},
		"sub-windows":     {sliding, []Event{{199, 5}}, 289, 1, 0, Answer{Retry: 1}, 0, 1},
		"sub-window left": {sliding, []Event{{199, 5}}, 290, 5, 0, Answer{Allowed: true}, 5, 0},
		"weights":         {weighted, []Event{{150, 10}}, 250, 6, 0, Answer{Retry: 10}, 5, 50},
		"two windows":     {logs, []Event{{100, 1}, {105, 1}}, 109, 1, 0, Answer{Retry: 1}, 0, 96},
		"longer window":   {logs, []Event{{100, 1}, {105, 1}, {112, 1}}, 130, 1, 0, Answer{Retry: 70}, 0, 82},
		"cold":            {warm, []Event{{1e9, 1}}, 1e9, 1, 2e6, Answer{Allowed: true, Wait: 1_375_000}, 0, 1_375_000},
		"any cost":        {warm, nil, 1e9, 1e6, 0, Answer{Allowed: true}, 1, 0},
		"ban":             {algo.Spec{Kind: algo.Ban}, nil, 5, 0, 0, Answer{Never: true}, 0, 0},
		"unlimited":       {algo.Spec{Kind: algo.Unlimited}, nil, 5, 9, 0, Answer{Allowed: true}, algo.MaxCount, 0},
	} {
		o := &Oracle{Def: c.def, Log: c.log}
		if got := o.Ask(c.at, c.cost, c.patience); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got := o.Remaining(c.at); got != c.left {
			t.Errorf("%s: remaining %d, want %d", name, got, c.left)
		}
		if got := o.Reset(c.at); got != c.reset {
			t.Errorf("%s: reset %d, want %d", name, got, c.reset)
		}
	}
}

// TestOracleRefund: newest first, and at most what counts.
func TestOracleRefund(t *testing.T) {
	o := NewOracle(algo.Spec{Kind: algo.FixedWindow, Count: 10, Period: 100})
	o.Admit(50, 4)
	o.Admit(150, 3)
	o.Admit(160, 2)
	o.Refund(170, 4)
	if o.Log[2].Cost != 0 || o.Log[1].Cost != 1 || o.Log[0].Cost != 4 {
		t.Errorf("log %v", o.Log)
	}
	o.Refund(170, 100)
	if o.Log[1].Cost != 0 || o.Log[0].Cost != 4 {
		t.Errorf("log %v", o.Log)
	}
}

// TestOraclePeakAndExcess looks at intervals.
func TestOraclePeakAndExcess(t *testing.T) {
	o := &Oracle{
		Def: algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 10, Burst: 2},
		Log: []Event{{0, 1}, {5, 1}, {9, 1}, {100, 1}},
	}
	for length, want := range map[int64]int64{1: 1, 5: 2, 6: 2, 9: 2, 10: 3, 101: 4} {
		if got := o.Peak(length); got != want {
			t.Errorf("peak within %d: %d, want %d", length, got, want)
		}
	}
	if got := o.Excess(2, 0); got.Cmp(big.NewRat(1, 10)) != 0 { // 3 within 9 µs, 2.9 are promised
		t.Errorf("excess %v, want 1/10", got)
	}
	if got := o.Full(100); got.Cmp(big.NewRat(10, 1)) != 0 {
		t.Errorf("full after %v, want 10", got)
	}
}

// TestRandomSpecs: the generator reaches both ends of the rates.
func TestRandomSpecs(t *testing.T) {
	slow, fast := false, false
	for n := range uint64(3000) {
		def := RandomSpec(Rand(1, n), algo.TokenBucket)
		perSecond := float64(def.Count) / float64(def.Period) * 1e6
		slow = slow || perSecond <= 1.0/(364*24*3600)
		fast = fast || perSecond >= 1e8
	}
	if !slow || !fast {
		t.Errorf("1 per year: %v, 10⁹ per second: %v", slow, fast)
	}
}
