package local

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// crowd is the number of goroutines in the checks of exactness.
const crowd = 64

// Verdict says whether a contestant keeps the limit.
type Verdict struct {
	Exact bool   `json:"exact"`
	Why   string `json:"why,omitempty"` // why not
}

// Check is the outcome of the two checks of one contestant.
type Check struct {
	Name   string `json:"name"`
	Model  string `json:"model"`
	Quota  string `json:"quota"` // admitted of a quota that does not refill
	Rate   string `json:"rate"`  // admitted while it refills
	Errors int64  `json:"errors"`
	Verdict
}

// The quotas of the checks. The token bucket takes a second to fill: a machine
// that lets nobody run for a while must not let it lose tokens.
var (
	onceQuota   = Quota{Count: 1, Period: 24 * time.Hour, Burst: 10_000}
	tokenQuota  = Quota{Count: 5_003, Period: time.Second, Burst: 8_000}
	windowQuota = Quota{Count: 200_000, Period: time.Second, Burst: 200_000}
)

// check asks a contestant from many goroutines at once and compares what it
// admits with what it should.
func check(c Contestant, quick bool) Check {
	out := Check{Name: c.Name, Model: c.Model.String(), Quota: "-", Rate: "-"}
	out.Exact, out.Why = c.Doubt == "", c.Doubt
	switch c.Model {
	case Adaptive:
		return out
	case Blocking:
		checkBlocking(c, &out)
		return out
	}
	checkQuota(c, &out)
	if !quick {
		checkRate(c, &out)
	}
	if out.Errors > 0 {
		out.fail("answers with errors under concurrency")
	}
	return out
}

func (c *Check) fail(why string) {
	c.Exact = false
	if c.Why == "" {
		c.Why = why
	}
}

// checkQuota spends a quota that does not refill: exactly the burst passes.
func checkQuota(c Contestant, out *Check) {
	s := c.NewSingle(onceQuota)
	defer closeAny(s)
	t := stampede(func() Tally {
		var t Tally
		for range 10_000 {
			t.add(s.Run(1))
		}
		return t
	})
	out.Quota = fmt.Sprintf("%d of %d", t.Admitted, onceQuota.Burst)
	out.Errors += t.Errors
	if t.Admitted > onceQuota.Burst {
		out.fail("over-admits under concurrency")
	} else if t.Admitted < onceQuota.Burst {
		out.fail("under-admits under concurrency")
	}
}

// checkRate asks without pause while the quota refills.
func checkRate(c Contestant, out *Check) {
	q, d := tokenQuota, 500*time.Millisecond
	if c.Model == Windows {
		q, d = windowQuota, 2200*time.Millisecond
	}
	p := press(func() Single { return c.NewSingle(q) }, q, c.Model == Tokens, d)
	var b bounds
	if c.Model == Windows {
		b = windowBounds(q, d)
	} else {
		// A token for rounding, and a thousandth so that a limiter is not struck off
		// for goroutines that read the clock in another order than they decided.
		b = tokenBounds(q, p.least, p.most).widen(1 + q.Burst/1000)
	}
	out.Rate = fmt.Sprintf("%d in [%d, %d]", p.Admitted, b.Lo, b.Hi)
	out.Errors += p.Errors
	if !b.hold(p.Admitted) {
		out.fail("wrong rate: " + out.Rate)
	}
}

// checkBlocking lets many goroutines wait for their turn. A limiter that only
// blocks must not let more of them through than its rate and the slack allow
// that it documents; how many fewer come depends on how soon a sleeper wakes.
func checkBlocking(c Contestant, out *Check) {
	const slack = 10
	s := c.NewSingle(tokenQuota)
	defer closeAny(s)
	begin := time.Now()
	t := stampede(func() (t Tally) {
		for time.Since(begin) < 200*time.Millisecond {
			t.add(s.Run(1))
		}
		return t
	})
	most := slack + 1 + tokenQuota.tokensIn(time.Since(begin))
	out.Rate = fmt.Sprintf("%d, at most %d", t.Admitted, most)
	if t.Admitted > most {
		out.fail("wrong rate: " + out.Rate)
	}
}

// stampede runs f on many goroutines that start together.
func stampede(f func() Tally) (t Tally) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	parts := make([]Tally, crowd)
	for i := range parts {
		wg.Go(func() {
			<-start
			parts[i] = f()
		})
	}
	close(start)
	wg.Wait()
	for _, p := range parts {
		t.add(p)
	}
	return t
}

// writeChecks prints the checks as a table.
func writeChecks(w io.Writer, cs []Check) {
	if len(cs) == 0 {
		return
	}
	fmt.Fprintf(w, "### exactness under %d goroutines\n\n", crowd)
	fmt.Fprint(w, "| | model | admitted of a fixed quota | admitted while it refills | errors | exact | |\n|---|---|---:|---:|---:|---|---|\n")
	for _, c := range cs {
		yes := "yes"
		if !c.Exact {
			yes = "no"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %d | %s | %s |\n", c.Name, c.Model, c.Quota, c.Rate, c.Errors, yes, c.Why)
	}
	fmt.Fprintln(w)
}
