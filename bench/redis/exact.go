package redis

import (
	"fmt"
	"sync"
	"time"
)

// verdict says whether a contestant keeps the limit.
type verdict struct {
	exact bool
	why   string // why not
}

// verdict is the outcome of the check of a contestant, or what is known of it
// without one.
func (r *Runner) verdict(c Contestant) verdict {
	if v, ok := r.verdicts[c.Name]; ok {
		return v
	}
	return verdict{exact: c.Doubt == "", why: c.Doubt}
}

// The check of exactness: this many instances with this many callers each make
// twice as many decisions as the quota has.
const (
	instances       = 2
	callersEach     = 32
	checkedAttempts = 2_000
)

// checkAll finds out which contestants keep the limit when two instances spend
// one quota that does not refill.
func (r *Runner) checkAll() error {
	fmt.Fprintf(r.out, "### exactness: %d instances with %d callers each on one key\n\n"+
		"| | admitted of %d | errors | exact | |\n|---|---:|---:|---|---|\n", instances, callersEach, once.Burst)
	for _, c := range r.contestants {
		if c.Kind == Floor {
			continue
		}
		r.say("exactness: %s", c.Name)
		t, err := r.spendOnce(c)
		if err != nil {
			return fmt.Errorf("exactness of %s: %w", c.Name, err)
		}
		v := judge(c, t)
		r.verdicts[c.Name] = v
		yes := "yes"
		if !v.exact {
			yes = "no"
		}
		fmt.Fprintf(r.out, "| %s | %d | %d | %s | %s |\n", c.Name, t.admitted, t.errors, yes, v.why)
	}
	fmt.Fprintln(r.out)
	return nil
}

func judge(c Contestant, t tally) verdict {
	switch {
	case c.Doubt != "":
		return verdict{why: c.Doubt}
	case t.admitted > once.Burst:
		return verdict{why: "over-admits under concurrency"}
	case t.errors > 0:
		return verdict{why: "answers with errors under concurrency"}
	case t.admitted < once.Burst:
		return verdict{why: "under-admits under concurrency"}
	}
	return verdict{exact: true}
}

// spendOnce lets several instances of a contestant spend one quota.
func (r *Runner) spendOnce(c Contestant) (t tally, err error) {
	if err := r.server.flush(); err != nil {
		return t, err
	}
	var ls []Limiter
	defer func() {
		for _, l := range ls {
			l.Close()
		}
	}()
	for range instances {
		l, err := c.Open(r.server.env(0), once)
		if err != nil {
			return t, err
		}
		ls = append(ls, l)
	}
	var wg sync.WaitGroup
	parts := make([]tally, len(ls))
	for i, l := range ls {
		wg.Go(func() { parts[i] = attempt(l, checkedAttempts/instances) })
	}
	wg.Wait()
	for _, p := range parts {
		t.add(p)
	}
	return t, nil
}

// attempt makes n decisions about one key from many callers, at most for as
// long as a key may be filled.
func attempt(l Limiter, n int) tally {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "a-key-of-16-byte"
	}
	return load{callers: callersEach, batch: 1, keys: keys}.fill(l, 10*time.Second)
}
