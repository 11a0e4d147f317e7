package local

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestTokenBounds(t *testing.T) {
	q := Quota{Count: 3, Period: time.Second, Burst: 10}
	b := tokenBounds(q, time.Second, 2*time.Second)
	if b != (bounds{12, 16}) { // just under 3 and just over 6 tokens
		t.Errorf("got %+v", b)
	}
	if b := tokenBounds(q, 1500*time.Millisecond, 1500*time.Millisecond); b != (bounds{14, 14}) {
		t.Errorf("got %+v", b)
	}
	if !b.hold(12) || !b.hold(16) || b.hold(11) || b.hold(17) {
		t.Error("hold is wrong")
	}
}

func TestTokensInDoesNotOverflow(t *testing.T) {
	q := Quota{Count: 1_000_000_000, Period: time.Second}
	if got := q.tokensIn(time.Hour); got != 3_600_000_000_000 {
		t.Errorf("got %d", got)
	}
}

func TestWindowBounds(t *testing.T) {
	if b := windowBounds(windowQuota, 2200*time.Millisecond); b != (bounds{400_000, 800_000}) {
		t.Errorf("got %+v", b)
	}
}

// counterSingle admits a fixed number of requests.
type counterSingle struct {
	left atomic.Int64
}

func (c *counterSingle) Run(n int) (t Tally) {
	for range n {
		t.count(c.left.Add(-1) >= 0)
	}
	return t
}

func TestCheckTellsExactFromInexact(t *testing.T) {
	build := func(extra int64) func(Quota) Single {
		return func(q Quota) Single {
			c := &counterSingle{}
			c.left.Store(q.Burst + extra)
			return c
		}
	}
	for _, c := range []struct {
		extra int64
		exact bool
	}{{0, true}, {1, false}, {-1, false}} {
		got := check(Contestant{NewSingle: build(c.extra)}, true)
		if got.Exact != c.exact || got.Exact != (got.Why == "") {
			t.Errorf("%+d: %+v", c.extra, got)
		}
	}
	if got := check(Contestant{NewSingle: build(0), Doubt: "known"}, true); got.Exact || got.Why != "known" {
		t.Errorf("a doubt must outlive the check: %+v", got)
	}
}

func TestPressEndsWithADenial(t *testing.T) {
	q := Quota{Count: 1, Period: time.Hour, Burst: 9}
	p := press(func() Single {
		c := &counterSingle{}
		c.left.Store(q.Burst)
		return c
	}, q, true, time.Microsecond)
	if p.Admitted != q.Burst || p.Denied == 0 || p.least > p.most {
		t.Errorf("%+v", p)
	}
}

// TestPrimeRejectsABucketThatMayHaveBeenFull spends more slowly than tokens
// come.
func TestPrimeRejectsABucketThatMayHaveBeenFull(t *testing.T) {
	q := Quota{Count: 1, Period: time.Microsecond, Burst: 1_000_000}
	if _, _, ok := prime(fixed(true), q, true, time.Now().Add(-time.Second)); ok {
		t.Error("a bucket that was full again passed")
	}
	if p, _, ok := prime(fixed(true), q, false, time.Now()); !ok || p.Admitted != 1 {
		t.Errorf("windows need one decision, got %+v", p)
	}
}

func TestHistogram(t *testing.T) {
	var h histogram
	for i := range 1_000_000 {
		h.add(time.Duration(i))
	}
	for _, q := range []float64{0.01, 0.5, 0.99, 0.999999} {
		want := q * 1_000_000
		if got := float64(h.quantile(q)); got < want || got > want*1.13+1 {
			t.Errorf("quantile %v = %v, want about %v", q, got, want)
		}
	}
	if h.max != 999_999 || h.mean() != 499_999.5 || h.quantile(1) != h.max {
		t.Errorf("max %v, mean %v", h.max, h.mean())
	}
}

func TestStatusField(t *testing.T) {
	text := "Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\nBad:\n"
	for name, want := range map[string]int64{"VmRSS:": 1 << 20, "VmHWM:": 2 << 20, "Bad:": 0, "None:": 0} {
		if got := statusField(text, name); got != want {
			t.Errorf("%s %d, want %d", name, got, want)
		}
	}
}

// TestFloodFindsForgottenKeys floods a store that forgets everything and one
// that forgets nothing.
func TestFloodFindsForgottenKeys(t *testing.T) {
	spent := map[string]int{}
	faithful := func(key string) bool {
		key = strings.Clone(key)
		spent[key]++
		return spent[key] <= 10
	}
	quiet := func(string, ...any) {}
	if f := runFlood(faithful, 3_000, quiet); f.denied != floodPlanted || f.admitted != 0 || f.times.n != 3_000 {
		t.Errorf("faithful: %d denied, %d admitted, %d timed", f.denied, f.admitted, f.times.n)
	}
	asked := 0
	forgetful := func(string) bool { asked++; return asked > floodPlanted }
	if f := runFlood(forgetful, 3_000, quiet); f.denied != 0 || f.admitted != 3 {
		t.Errorf("forgetful: %d denied, %d admitted", f.denied, f.admitted)
	}
}

// TestPeersKeepTheirPart makes a few decisions with every contestant: all
// quotas can be built, plenty admits and drained denies.
func TestPeersKeepTheirPart(t *testing.T) {
	for _, c := range Contestants() {
		t.Run(c.Name, func(t *testing.T) {
			if c.NewSingle != nil {
				checkSingle(t, c)
			}
			if c.NewKeyed == nil {
				return
			}
			k := c.NewKeyed(roomy, 100)
			defer closeAny(k)
			if got := fill(k, 100); got != (Tally{Admitted: 100}) {
				t.Errorf("roomy: %+v", got)
			}
		})
	}
}

func checkSingle(t *testing.T, c Contestant) {
	t.Helper()
	s := c.NewSingle(plenty)
	defer closeAny(s)
	if got := s.Run(100); got != (Tally{Admitted: 100}) {
		t.Errorf("plenty: %+v", got)
	}
	if c.Model == Blocking || c.Model == Adaptive {
		return
	}
	d := c.NewSingle(drained)
	defer closeAny(d)
	if got := d.Run(100); got != (Tally{Admitted: 1, Denied: 99}) {
		t.Errorf("drained: %+v", got)
	}
}
