package local

import (
	"sync/atomic"
	"time"
)

// pressed is what a limiter did under pressure. From its first decision to a
// last one, which it denied, between least and most passed.
type pressed struct {
	Tally
	least, most time.Duration
	silence     time.Duration // the longest time in which nobody got an answer
}

// press asks a new limiter for one decision after another from many goroutines
// for d, then drains what is left. The time between the first and the last
// decision is known from clock reads around both.
//
// A token bucket that is full for a while loses what would have come, so its
// burst is spent first, fast enough that it cannot have been full again after
// the first decision. If the machine paused just then, a new one is tried.
func press(build func() Single, q Quota, bucket bool, d time.Duration) pressed {
	for {
		s := build()
		base := time.Now()
		p, after, ok := prime(s, q, bucket, base)
		if ok {
			p.crowdIn(s, base, d)
			p.drain(s, base, after)
		}
		closeAny(s)
		if ok {
			return p
		}
	}
}

// prime makes the first decision and, with a bucket, spends half of the burst.
// It returns the instant after the first decision, and false if the bucket may
// have been full again since.
func prime(s Single, q Quota, bucket bool, base time.Time) (p pressed, after time.Duration, ok bool) {
	p.Tally = s.Run(1)
	after = time.Since(base)
	for bucket && p.Admitted < q.Burst/2 {
		if q.tokensIn(time.Since(base))+1 > p.Admitted {
			return p, after, false
		}
		t := s.Run(1)
		p.add(t)
		if t.Admitted == 0 {
			break // it denies too early, which the bounds will show
		}
	}
	return p, after, true
}

// crowdIn asks from many goroutines for d.
func (p *pressed) crowdIn(s Single, base time.Time, d time.Duration) {
	var stop atomic.Bool
	var quiet gap
	quiet.last.Store(int64(time.Since(base)))
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	p.add(stampede(func() (t Tally) {
		for !stop.Load() {
			t.add(s.Run(1))
			quiet.answer(int64(time.Since(base)))
		}
		return t
	}))
	p.silence = time.Duration(quiet.longest.Load())
}

// gap finds the longest time without an answer.
type gap struct{ last, longest atomic.Int64 }

// answer notes an answer at the given instant.
func (g *gap) answer(now int64) {
	last := g.last.Load()
	if now <= last || !g.last.CompareAndSwap(last, now) {
		return
	}
	for {
		longest := g.longest.Load()
		if now-last <= longest || g.longest.CompareAndSwap(longest, now-last) {
			return
		}
	}
}

// drain asks until a request is denied and notes when that was.
func (p *pressed) drain(s Single, base time.Time, after time.Duration) {
	for {
		start := time.Since(base)
		t := s.Run(1)
		end := time.Since(base)
		p.add(t)
		if t.Admitted == 0 {
			p.least, p.most = start-after, end
			return
		}
	}
}
