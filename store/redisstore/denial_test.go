package redisstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// denialTenPerSecond is a bucket of one that takes 100 ms to fill.
var denialTenPerSecond = algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: 1_000_000, Burst: 5}

// denialFor returns a check as the server denies it to an empty bucket.
func denialFor(spec *algo.Spec, key string, cost, maxWait int64) store.Check {
	s := algo.State{}
	algo.Spend(spec, &s, 0, 5)
	return store.Check{Key: key, Spec: spec, Cost: cost, MaxWait: maxWait, Verdict: algo.Check(spec, &s, 0, cost, maxWait)}
}

// TestDenialCountsDown: the wait shrinks with the time since the request was sent,
// and what remains and the time until all is free are those of the instant.
func TestDenialCountsDown(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	d := redisstore.NewDenials(redisstore.DenialEntries, redisstore.DenialMaxAge)
	redisstore.DenialLearn(d, 1000, []store.Check{denialFor(spec, "ann", 2, 0)}) // free after 200 ms
	for _, want := range []struct{ at, cost, retry, remaining, reset int64 }{
		{1000, 2, 200_000, 0, 500_000},
		{51_000, 2, 150_000, 0, 450_000},
		{151_000, 2, 50_000, 1, 350_000},
		{151_000, 4, 250_000, 1, 350_000},
		{200_999, 2, 1, 1, 300_001},
	} {
		c := []store.Check{{Key: "ann", Spec: spec, Cost: want.cost}}
		if !redisstore.DenialAnswer(d, want.at, c) {
			t.Errorf("at %d: not answered", want.at)
			continue
		}
		v := c[0].Verdict
		if spec.RetryAfter(v) != want.retry || spec.Remaining(v) != want.remaining || spec.ResetAfter(v) != want.reset {
			t.Errorf("at %d, cost %d: retry %d, remaining %d, reset %d, want %+v", want.at, want.cost,
				spec.RetryAfter(v), spec.Remaining(v), spec.ResetAfter(v), want)
		}
	}
}

// TestDenialAnswersOnly: a request that it knows nothing of goes to the server.
func TestDenialAnswersOnly(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	raised := denialTenPerSecond
	raised.Burst = 10
	other := denialTenPerSecond
	other.Ordinal = 1
	for name, c := range map[string]struct {
		at    int64
		check store.Check
	}{
		"smaller cost":   {1000, store.Check{Key: "ann", Spec: spec, Cost: 1, MaxWait: 10}},
		"more patience":  {1000, store.Check{Key: "ann", Spec: spec, Cost: 2, MaxWait: 11}},
		"peek":           {1000, store.Check{Key: "ann", Spec: spec}},
		"never":          {1000, store.Check{Key: "ann", Spec: spec, Cost: 6}},
		"too late":       {1000 + 200_000 - 10, store.Check{Key: "ann", Spec: spec, Cost: 2}},
		"other key":      {1000, store.Check{Key: "bob", Spec: spec, Cost: 2}},
		"other limit":    {1000, store.Check{Key: "ann", Spec: denialSpec(t, other), Cost: 2}},
		"raised limit":   {1000, store.Check{Key: "ann", Spec: denialSpec(t, raised), Cost: 2}},
		"before sending": {999, store.Check{Key: "ann", Spec: spec, Cost: 2}},
	} {
		d := redisstore.NewDenials(8, time.Second)
		redisstore.DenialLearn(d, 1000, []store.Check{denialFor(spec, "ann", 2, 10)})
		if redisstore.DenialAnswer(d, c.at, []store.Check{c.check}) {
			t.Errorf("%s: answered", name)
		}
	}
}

// TestDenialRaisedLimit: who asks by a new limit ends what the old one was denied.
func TestDenialRaisedLimit(t *testing.T) {
	spec, again := denialSpec(t, denialTenPerSecond), denialSpec(t, denialTenPerSecond)
	for name, ask := range map[string]func(*redisstore.Denials, []store.Check){
		"answer": func(d *redisstore.Denials, c []store.Check) { redisstore.DenialAnswer(d, 2000, c) },
		"learn":  func(d *redisstore.Denials, c []store.Check) { redisstore.DenialLearn(d, 2000, c) },
	} {
		d := redisstore.NewDenials(8, time.Second)
		redisstore.DenialLearn(d, 1000, []store.Check{denialFor(spec, "ann", 1, 0)})
		ask(d, []store.Check{{Key: "ann", Spec: again, Cost: 1, Verdict: algo.Verdict{Allowed: true}}})
		redisstore.DenialLearn(d, 1999, []store.Check{denialFor(spec, "ann", 1, 0)}) // was under way
		if redisstore.DenialAnswer(d, 2000, []store.Check{{Key: "ann", Spec: spec, Cost: 1}}) {
			t.Errorf("%s: still denied", name)
		}
	}
}

// TestDenialMaxAge: no entry lives longer, however long the wait.
func TestDenialMaxAge(t *testing.T) {
	spec := denialSpec(t, algo.Spec{Kind: algo.FixedWindow, Count: 5, Period: 3600_000_000})
	d := redisstore.NewDenials(8, time.Second)
	redisstore.DenialLearn(d, 1, []store.Check{denialFor(spec, "ann", 1, 0)})
	c := []store.Check{{Key: "ann", Spec: spec, Cost: 1}}
	if !redisstore.DenialAnswer(d, 1_000_000, c) || spec.RetryAfter(c[0].Verdict) != 3600_000_000-999_999 {
		t.Errorf("after nearly a second: %+v", c[0].Verdict)
	}
	if redisstore.DenialAnswer(d, 1_000_001, c) {
		t.Error("answered after a second")
	}
}

// TestDenialDrop: what is given back ends the denial of all limits of the key, and
// an answer that was under way meanwhile does not bring it back.
func TestDenialDrop(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	d := redisstore.NewDenials(8, time.Second)
	denied := []store.Check{denialFor(spec, "ann", 1, 0)}
	ask := []store.Check{{Key: "ann", Spec: spec, Cost: 1}}
	redisstore.DenialLearn(d, 1000, denied)
	redisstore.DenialDrop(d, 2000, "ann")
	if redisstore.DenialAnswer(d, 2000, ask) {
		t.Error("denied after the drop")
	}
	redisstore.DenialLearn(d, 2000, denied)
	if redisstore.DenialAnswer(d, 2001, ask) {
		t.Error("denied by an answer that was under way")
	}
	redisstore.DenialLearn(d, 2001, denied)
	if !redisstore.DenialAnswer(d, 2001, ask) {
		t.Error("nothing is learned after a drop")
	}
}

// TestDenialSeveral: one denied limit is enough; of the others nothing is promised.
func TestDenialSeveral(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	hour := denialSpec(t, algo.Spec{Kind: algo.SlidingWindow, Count: 9, Period: 3600_000_000, Sub: 10})
	d := redisstore.NewDenials(8, time.Second)
	redisstore.DenialLearn(d, 1, []store.Check{denialFor(spec, "ann", 1, 0)})
	c := []store.Check{{Key: "ann", Spec: hour, Cost: 1}, {Key: "ann", Spec: spec, Cost: 1}}
	if !redisstore.DenialAnswer(d, 11, c) || !c[0].Verdict.Allowed || c[1].Verdict.Allowed {
		t.Fatalf("got %+v", c)
	}
	if hour.Remaining(c[0].Verdict) != 0 || spec.RetryAfter(c[1].Verdict) != 99_990 {
		t.Errorf("remaining %d, retry %d", hour.Remaining(c[0].Verdict), spec.RetryAfter(c[1].Verdict))
	}
	c[1].Key = "bob"
	if redisstore.DenialAnswer(d, 11, c) {
		t.Error("answered what nobody knows")
	}
}

// TestDenialSharedState: what was denied only beside another check is not learned.
func TestDenialSharedState(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	m := algotest.NewModel(func() time.Time { return time.UnixMicro(0) })
	c := []store.Check{{Key: "ann", Spec: spec, Cost: 3}, {Key: "ann", Spec: spec, Cost: 3}}
	if err := m.Take(context.Background(), store.Spend, c); err != nil || c[1].Verdict.Allowed {
		t.Fatal(err, c[1].Verdict)
	}
	d := redisstore.NewDenials(8, time.Second)
	redisstore.DenialLearn(d, 1, c)
	if redisstore.DenialAnswer(d, 1, c[:1]) {
		t.Error("denied what the server allows")
	}
}

// TestDenialKeepsTheBetter: what answers less, and for no longer, is not kept; what
// answers other requests is.
func TestDenialKeepsTheBetter(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	d := redisstore.NewDenials(8, time.Second)
	redisstore.DenialLearn(d, 50_001, []store.Check{denialFor(spec, "ann", 1, 0)}) // until 150 ms
	late := denialFor(spec, "ann", 2, 0)
	late.Verdict.Z = 60_000
	redisstore.DenialLearn(d, 50_001, []store.Check{late})
	if !redisstore.DenialAnswer(d, 50_001, []store.Check{{Key: "ann", Spec: spec, Cost: 1}}) {
		t.Error("replaced by one that answers less")
	}
	redisstore.DenialLearn(d, 50_001, []store.Check{denialFor(spec, "ann", 2, 0)})
	if !redisstore.DenialAnswer(d, 200_000, []store.Check{{Key: "ann", Spec: spec, Cost: 2}}) {
		t.Error("one that answers for longer was not kept")
	}
}

// TestDenialConcurrentSafe: what is read while others write is never a mix: here
// every figure of a denial is the same.
func TestDenialConcurrentSafe(t *testing.T) {
	spec := denialSpec(t, algo.Spec{Kind: algo.FixedWindow, Count: 1e6, Period: 3600_000_000})
	d := redisstore.NewDenials(4, time.Hour)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range int64(20_000) {
				key := fmt.Sprint("key ", i%3)
				c := []store.Check{{Key: key, Spec: spec, Cost: 1}}
				if redisstore.DenialAnswer(d, 1, c) {
					if v := c[0].Verdict; v.X != v.Y || v.Y != v.Z {
						t.Errorf("mixed up: %+v", v)
					}
				}
				if c[0].Verdict = (algo.Verdict{X: 1000 + i, Y: 1000 + i, Z: 1000 + i}); g == 0 {
					redisstore.DenialLearn(d, 1, c)
				}
				if g == 1 && i%64 == 0 {
					redisstore.DenialDrop(d, 0, key)
				}
			}
		})
	}
	all.Wait()
}

// TestDenialAfterTheLast: where requests are denied, the one that gets the last of the
// budget tells how the next will be denied. Elsewhere nothing is remembered of it.
func TestDenialAfterTheLast(t *testing.T) {
	spec := denialSpec(t, denialTenPerSecond)
	state := algo.State{}
	algo.Spend(spec, &state, 0, 4)
	last := []store.Check{{Key: "ann", Spec: spec, Cost: 1, MaxWait: 10, Verdict: algo.Check(spec, &state, 0, 1, 10)}}
	ask := func(d *redisstore.Denials, at, maxWait int64) bool {
		return redisstore.DenialAnswer(d, at, []store.Check{{Key: "ann", Spec: spec, Cost: 1, MaxWait: maxWait}})
	}
	fresh := redisstore.NewDenials(8, time.Second)
	redisstore.DenialLearn(fresh, 500_000, last)
	if ask(fresh, 500_000, 0) {
		t.Error("remembered for a key that is not denied")
	}
	d := redisstore.NewDenials(8, time.Second)
	redisstore.DenialLearn(d, 1000, []store.Check{denialFor(spec, "ann", 1, 10)})
	redisstore.DenialLearn(d, 500_000, last)
	if !ask(d, 500_000, 0) || !ask(d, 599_999, 0) {
		t.Error("the next one is not denied")
	}
	if ask(d, 600_000, 0) || ask(d, 500_000, 1) {
		t.Error("denied what may be allowed")
	}
	refused := redisstore.NewDenials(8, time.Second)
	redisstore.DenialLearn(refused, 1000, []store.Check{denialFor(spec, "ann", 1, 10)})
	redisstore.DenialLearn(refused, 500_000, append(last, denialFor(spec, "bob", 1, 0)))
	if ask(refused, 500_000, 0) {
		t.Error("denied because of what was not spent")
	}
}
