package local

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/bench/floor"
)

// fineQuota counts in so small parts of a microsecond that a bucket's state does
// not fit into one machine word.
var fineQuota = Quota{Count: 99_991, Period: time.Second, Burst: 100_000}

// firstKeys is the number of keys whose first requests must all pass.
const firstKeys = 20_000

// exact presses the library's limiters for seconds and compares what they
// admit with the oracle, without any tolerance.
func (r *Runner) exact() {
	c, ok := r.find(oursPlain)
	if !ok {
		return
	}
	d := 4 * time.Second
	if r.cfg.Quick {
		d = 500 * time.Millisecond
	}
	r.say("exact: one limiter")
	one := press(func() Single { return c.NewSingle(tokenQuota) }, tokenQuota, true, d)
	r.say("exact: one key")
	many := press(func() Single { return oneKey{c.NewKeyed(tokenQuota, 1)} }, tokenQuota, true, d)
	r.say("exact: one key, fine rate")
	fine := press(func() Single { return oneKey{c.NewKeyed(fineQuota, 1)} }, fineQuota, true, d)
	bf := tokenBounds(fineQuota, fine.least, fine.most)
	r.say("exact: the floor")
	low := press(func() Single { return floorSingle{floor.NewBucket(floorLimit(tokenQuota))} }, tokenQuota, true, d)
	bl := tokenBounds(tokenQuota, low.least, low.most)
	first, second := r.firstRequests(c)
	b, bk := tokenBounds(tokenQuota, one.least, one.most), tokenBounds(tokenQuota, many.least, many.most)
	r.add(Result{
		Case: "exact", Title: fmt.Sprintf("%d goroutines, one key, %v: admitted, and the most that the oracle allows", crowd, d),
		Unit: "admitted",
		Figures: []Figure{
			{Name: oursPlain, Kind: Ours, Value: float64(many.Admitted), Exact: bk.hold(many.Admitted)},
			{Name: "oracle", Kind: Floor, Value: float64(bk.Hi), Exact: true},
		},
		Extra: []Field{
			{"keyed", judged(many, bk)},
			{"limiter", judged(one, b)},
			{"keyed_fine_rate", judged(fine, bf)},
			{"floor_bucket", judged(low, bl)},
			{"first_requests", fmt.Sprintf("%d/%d", first, firstKeys)},
			{"second_requests", fmt.Sprintf("%d/0", second)},
		},
	})
}

// judged says whether the count is exact, and for how long nobody got an
// answer: beyond the time in which the bucket fills, it would lose tokens.
func judged(p pressed, b bounds) string {
	verdict := "exact"
	if !b.hold(p.Admitted) || p.Errors > 0 {
		verdict = "WRONG"
	}
	return fmt.Sprintf("%s(%d_in_[%d,%d]_of_%d,silence_%v)", verdict, p.Admitted, b.Lo, b.Hi, p.Total(), p.silence.Round(time.Microsecond))
}

// firstRequests asks twice for each of many keys from many goroutines, with
// room for one request per key. It returns how many of the first requests and
// how many of the second were admitted.
func (r *Runner) firstRequests(c Contestant) (first, second int64) {
	r.say("exact: %d first requests", firstKeys)
	k := c.NewKeyed(drained, firstKeys)
	defer closeAny(k)
	all := keySpan(0, firstKeys)
	round := func() int64 {
		var next atomic.Int64
		return stampede(func() (t Tally) {
			for {
				i := int(next.Add(1) - 1)
				if i >= firstKeys {
					return t
				}
				t.add(k.Run(all[i*KeyLen : (i+1)*KeyLen]))
			}
		}).Admitted
	}
	return round(), round()
}
