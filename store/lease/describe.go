package lease

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/algo"
)

// Describe says in numbers what leases mean for a limit: whether it is leased,
// what that costs, and what instances can do to each other.
func (s *Store) Describe(of *algo.Spec) string {
	p := s.rules.plan(of)
	if !p.leased() {
		return "leases are off: " + p.off + "; every request goes to the store"
	}
	age := time.Duration(p.age) * time.Microsecond
	var b strings.Builder
	fmt.Fprintf(&b, "leased for up to %v in batches of up to %d", time.Duration(p.life)*time.Microsecond, p.cap)
	switch {
	case of.Kind != algo.TokenBucket:
		fmt.Fprintf(&b, "; a lease ends with its window; all instances together stay within %d", of.Count)
	case s.rules.fullBurst:
		fmt.Fprintf(&b, "; full burst: all instances together exceed the limit by at most %d", of.RefillIn(p.age))
	default:
		fmt.Fprintf(&b, "; strict: all instances together stay within the limit, for which %d of the burst of %d are kept back"+
			" and a cost above %d is never admitted", p.back, of.Burst, p.spec.Burst)
	}
	fmt.Fprintf(&b, "; when the store denies, each other instance may hold up to %d unused, for at most %v", p.most(), age)
	return b.String()
}

// most is what an instance can hold: the rest of a batch, the next one, and a
// third under way for somebody for whom both were not enough.
func (p *plan) most() int64 { return 3 * p.cap }
