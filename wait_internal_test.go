package sluice

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestQueuesAreCleanedUp: a key that nobody waits for any more has no queue,
// whether they were let through, refused, or gave up.
func TestQueuesAreCleanedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := NewKeyed(MustParse("fixed_window 1/s"))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second+time.Millisecond)
		defer cancel()
		for i := range 30 {
			key := fmt.Sprint("key", i%3)
			go func() { _ = k.Wait(ctx, key) }()
			go func() { _ = k.WaitN(ctx, key, 2) }() // never
		}
		synctest.Wait()
		k.queues.mu.Lock()
		if n := len(k.queues.all); n != 3 {
			t.Errorf("%d queues while three keys are waited for", n)
		}
		k.queues.mu.Unlock()
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if n := len(k.queues.all); n != 0 {
			t.Errorf("%d queues though nobody waits", n)
		}
	})
}

// TestQueueHandsOnATurnThatComesTooLate: the one who gives up in the moment when
// its turn comes lets the next one in.
func TestQueueHandsOnATurnThatComesTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 { // select picks by chance
		var q queue
		if _, err := q.enter(ctx); err != nil {
			t.Fatal(err) // nobody inside: no reason to look at the context
		}
		turn := make(chan struct{})
		q.waiting = append(q.waiting, turn)
		q.leave()
		q.abandon(turn)
		if q.inside != 0 || q.waiting != nil {
			t.Fatal("the turn was lost")
		}
	}
}

// TestPlanGoesOnWithoutItsZone: a zone that disappears from the machine while
// the program runs leaves the windows that are known.
func TestPlanGoesOnWithoutItsZone(t *testing.T) {
	now := time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)
	clock := WithClock(func() time.Time { return now })
	l := NewLimiter(PerMonth(1), clock)
	k := NewKeyed(PerMonth(1), clock)
	for _, p := range []*Plan{l.plan.Load(), k.plan.Load()} {
		p.limits[0].Zone = "Mars/Olympus"
	}
	now = now.AddDate(20, 0, 0)
	d, err := k.Allow(t.Context(), "ann")
	if !l.Allow() || l.Allow() || !d.Allowed || err != nil {
		t.Error("a limit that cannot be laid out anew does not limit")
	}
	if got := PerMonth(1).InZone("Mars/Olympus").bounds(0); len(got) < 60 {
		t.Errorf("%d bounds", len(got))
	}
}
