package algo_test

import (
	"errors"
	"math"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
)

func TestCompileErrors(t *testing.T) {
	bucket := algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1e6, Burst: 1}
	interval, leaky, fixed, sliding := bucket, bucket, bucket, bucket
	interval.Kind, leaky.Kind, fixed.Kind, sliding.Kind = algo.IntervalBucket, algo.LeakyBucket, algo.FixedWindow, algo.SlidingWindow
	warm := algo.Spec{Kind: algo.WarmUp, Count: 1, Period: 1e6, Warm: 1e6, Cold: 3}
	logs := algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 1, Period: 1e6}}}
	for name, c := range map[string]struct {
		def  algo.Spec
		edit func(*algo.Spec)
		want error
	}{
		"no kind":               {bucket, func(p *algo.Spec) { p.Kind = 0 }, algo.ErrKind},
		"unknown kind":          {bucket, func(p *algo.Spec) { p.Kind = algo.Concurrency + 1 }, algo.ErrKind},
		"negative wait":         {bucket, func(p *algo.Spec) { p.MaxWait = -1 }, algo.ErrWait},
		"wait too long":         {bucket, func(p *algo.Spec) { p.MaxWait = algo.MaxAhead + 1 }, algo.ErrWait},
		"no count":              {bucket, func(p *algo.Spec) { p.Count = 0 }, algo.ErrCount},
		"count too large":       {bucket, func(p *algo.Spec) { p.Count = algo.MaxCount + 1 }, algo.ErrCount},
		"no period":             {bucket, func(p *algo.Spec) { p.Period = 0 }, algo.ErrPeriod},
		"period too long":       {bucket, func(p *algo.Spec) { p.Period = algo.MaxSpan + 1 }, algo.ErrPeriod},
		"no burst":              {bucket, func(p *algo.Spec) { p.Burst = 0 }, algo.ErrBurst},
		"burst too large":       {bucket, func(p *algo.Spec) { p.Burst = algo.MaxCount + 1 }, algo.ErrBurst},
		"too fast":              {bucket, func(p *algo.Spec) { p.Count, p.Period = 1001, 1 }, algo.ErrRate},
		"far too fast":          {bucket, func(p *algo.Spec) { p.Count, p.Period = algo.MaxCount, 1 }, algo.ErrRate},
		"too slow":              {bucket, func(p *algo.Spec) { p.Burst, p.Period = 102, 366*24*3600*1e6 }, algo.ErrSlow},
		"interval no burst":     {interval, func(p *algo.Spec) { p.Burst = 0 }, algo.ErrBurst},
		"interval too fast":     {interval, func(p *algo.Spec) { p.Count = 1e10 }, algo.ErrRate},
		"interval too slow":     {interval, func(p *algo.Spec) { p.Burst = 1e13 }, algo.ErrSlow},
		"leaky too fast":        {leaky, func(p *algo.Spec) { p.Count = 1e10 }, algo.ErrRate},
		"leaky no queue":        {leaky, func(p *algo.Spec) { p.Burst = 0 }, algo.ErrBurst},
		"bounds: one":           {fixed, func(p *algo.Spec) { p.Bounds = []int64{1} }, algo.ErrBounds},
		"bounds: none":          {fixed, func(p *algo.Spec) { p.Bounds = []int64{} }, algo.ErrBounds},
		"bounds: no ascent":     {fixed, func(p *algo.Spec) { p.Bounds = []int64{1, 2, 2} }, algo.ErrBounds},
		"no sub-windows":        {sliding, func(p *algo.Spec) { p.Sub = 0 }, algo.ErrSub},
		"too many sub-windows":  {sliding, func(p *algo.Spec) { p.Sub = 1001 }, algo.ErrSub},
		"uneven sub-windows":    {sliding, func(p *algo.Spec) { p.Sub = 7 }, algo.ErrSub},
		"warm-up too fast":      {warm, func(p *algo.Spec) { p.Count = 1e10 }, algo.ErrRate},
		"no warm-up":            {warm, func(p *algo.Spec) { p.Warm = 0 }, algo.ErrWarm},
		"warm-up too long":      {warm, func(p *algo.Spec) { p.Warm = algo.MaxSpan + 1 }, algo.ErrWarm},
		"cold factor below 1":   {warm, func(p *algo.Spec) { p.Cold = 0.5 }, algo.ErrWarm},
		"cold factor too large": {warm, func(p *algo.Spec) { p.Cold = 2e6 }, algo.ErrWarm},
		"cold factor NaN":       {warm, func(p *algo.Spec) { p.Cold = math.NaN() }, algo.ErrWarm},
		"log: no window":        {logs, func(p *algo.Spec) { p.Windows = nil }, algo.ErrCount},
		"log: 256 windows":      {logs, func(p *algo.Spec) { p.Windows = make([]algo.Window, 256) }, algo.ErrCount},
		"log: no count":         {logs, func(p *algo.Spec) { p.Windows = []algo.Window{{0, 1}} }, algo.ErrCount},
		"log: no period":        {logs, func(p *algo.Spec) { p.Windows = []algo.Window{{1, 0}} }, algo.ErrPeriod},
		"log: period too long":  {logs, func(p *algo.Spec) { p.Windows = []algo.Window{{1, algo.MaxSpan + 1}} }, algo.ErrPeriod},
		"log: too long":         {logs, func(p *algo.Spec) { p.Windows = []algo.Window{{100_001, 1}} }, algo.ErrLog},
	} {
		def := c.def
		c.edit(&def)
		if _, err := algo.Compile(def); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

// TestCompileEdges compiles what is just inside the bounds.
func TestCompileEdges(t *testing.T) {
	for _, def := range []algo.Spec{
		{Kind: algo.TokenBucket, Count: 1000, Period: 1, Burst: algo.MaxCount},
		{Kind: algo.TokenBucket, Count: 1, Period: 365 * 24 * 3600 * 1e6, Burst: 100},
		{Kind: algo.TokenBucket, Count: algo.MaxCount, Period: 1e12, Burst: 1, MaxWait: algo.MaxAhead},
		{Kind: algo.IntervalBucket, Count: 1000, Period: 1, Burst: algo.MaxCount},
		{Kind: algo.IntervalBucket, Count: algo.MaxCount, Period: algo.MaxSpan, Burst: algo.MaxCount},
		{Kind: algo.LeakyBucket, Count: 1000, Period: 1, Burst: algo.MaxCount},
		{Kind: algo.FixedWindow, Count: algo.MaxCount, Period: 1},
		{Kind: algo.SlidingWindow, Count: algo.MaxCount, Period: 1000, Sub: 1000},
		{Kind: algo.WeightedWindow, Count: algo.MaxCount, Period: algo.MaxSpan},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{algo.MaxCount, algo.MaxSpan}}, LogMax: algo.MaxCount},
		{Kind: algo.SlidingLog, Windows: []algo.Window{{algo.MaxLog, 1}}},
	} {
		compile(t, def)
		extremes(t, def)
	}
}

// extremes asks, overspends and refunds the largest amounts at early and late
// instants: nothing overflows.
func extremes(t *testing.T, def algo.Spec) {
	t.Helper()
	p := compile(t, def)
	most := algotest.NewOracle(def).Most()
	for _, now := range []int64{0, 1 << 52} {
		var s algo.State
		for step := range 12 {
			cost := algotest.Pick(algotest.Rand(uint64(step), 1), []int64{1, most, algo.MaxCount, math.MaxInt64})
			v := algo.Decide(p, &s, now, cost, forever)
			bounded(t, p, def, now, v)
			algo.Spend(p, &s, now, algo.MaxCount)
			bounded(t, p, def, now, algo.Check(p, &s, now, 0, 0))
			bounded(t, p, def, now, algo.Check(p, &s, now+1, most, 0))
		}
		for range 100 {
			algo.Refund(p, &s, now, algo.MaxCount)
		}
		if v := algo.Check(p, &s, now, most, 0); !v.Allowed && s.T-now <= 2*algo.MaxSpan && def.Kind != algo.TokenBucket {
			t.Errorf("%s at %d: everything was given back, and %d gets %+v", algotest.Describe(def), now, most, v)
		}
	}
}

// bounded checks that no figure of a verdict is out of this world.
func bounded(t *testing.T, p *algo.Spec, def algo.Spec, now int64, v algo.Verdict) {
	t.Helper()
	longest := int64(3 * algo.MaxSpan)
	left, retry, reset := p.Remaining(v), p.RetryAfter(v), p.ResetAfter(v)
	if left < 0 || left > algo.MaxCount+1 || retry < 0 || retry > longest || reset < 0 || reset > longest || v.Wait < 0 {
		t.Errorf("%s at %d: %+v: remaining %d retry %d reset %d", algotest.Describe(def), now, v, left, retry, reset)
	}
}

func TestBanAndUnlimited(t *testing.T) {
	ban, free := compile(t, algo.Spec{Kind: algo.Ban}), compile(t, algo.Spec{Kind: algo.Unlimited})
	for _, cost := range []int64{0, 1, algo.MaxCount} {
		var s algo.State
		v := algo.Decide(ban, &s, 5, cost, forever)
		if v.Allowed || !v.Never || ban.Remaining(v) != 0 || ban.RetryAfter(v) != 0 || ban.ResetAfter(v) != 0 {
			t.Errorf("ban, cost %d: %+v", cost, v)
		}
		v = algo.Decide(free, &s, 5, cost, 0)
		if !v.Allowed || v.Wait != 0 || free.Remaining(v) != algo.MaxCount || free.ResetAfter(v) != 0 {
			t.Errorf("unlimited, cost %d: %+v", cost, v)
		}
		algo.Refund(free, &s, 5, 1)
		if algo.Cut(free, &s, 5) || !same(&s, &algo.State{}) {
			t.Errorf("unlimited keeps no state: %+v", s)
		}
	}
	if v := algo.Decide(free, &algo.State{}, 5, algo.MaxCount+1, 0); v.Allowed || !v.Never {
		t.Errorf("a cost out of range is denied even by unlimited: %+v", v)
	}
	if ban.Books() || free.Books() {
		t.Error("neither books the future")
	}
}

// TestNegativeCost is denied for good and changes nothing.
func TestNegativeCost(t *testing.T) {
	for _, kind := range algotest.Kinds() {
		def := algotest.RandomSpec(algotest.Rand(1, uint64(kind)), kind)
		p := compile(t, def)
		var s algo.State
		if v := algo.Decide(p, &s, 1e9, -1, forever); v.Allowed || !v.Never || !same(&s, &algo.State{}) {
			t.Errorf("%s: %+v, state %+v", algotest.Describe(def), v, s)
		}
	}
}

// TestLogNamesTheWindow: the answer says which window bound.
func TestLogNamesTheWindow(t *testing.T) {
	p := compile(t, algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{2, 1e6}, {3, 60e6}}})
	var s algo.State
	for i, want := range []algo.Verdict{
		{Allowed: true, X: 1, Z: 60e6},
		{Allowed: true, X: 0, Z: 60e6},
		{Window: 0, X: 0, Y: 1e6, Z: 60e6},
	} {
		if v := algo.Decide(p, &s, 1e9, 1, 0); v != want {
			t.Errorf("request %d: %+v, want %+v", i, v, want)
		}
	}
	if v := algo.Decide(p, &s, 1e9+1e6, 1, 0); !v.Allowed || v.Window != 1 || p.Remaining(v) != 0 {
		t.Errorf("the minute binds: %+v", v)
	}
	if v := algo.Decide(p, &s, 1e9+2e6, 1, 0); v.Allowed || v.Window != 1 || p.RetryAfter(v) != 58e6 {
		t.Errorf("the minute has bound: %+v", v)
	}
}
