package sluice

import "testing"

// TestAbandonInTheMomentOfSuccess: a permit, or a refusal, that came while its
// waiter gave up is not lost.
func TestAbandonInTheMomentOfSuccess(t *testing.T) {
	c := NewConcurrency(2)
	p, _ := c.AllowN(2)
	w := &waiter{2, make(chan *Permit, 1)}
	place := c.waiting.PushBack(w)
	p.Release() // lets w in
	if c.InFlight() != 2 {
		t.Fatalf("%d in flight, want 2", c.InFlight())
	}
	c.abandon(place, w)
	if c.InFlight() != 0 || c.waiting.Len() != 0 {
		t.Errorf("%d in flight, %d waiting", c.InFlight(), c.waiting.Len())
	}

	p, _ = c.Allow()
	place = c.waiting.PushBack(w)
	if err := c.SetLimit(1); err != nil { // refuses w
		t.Fatal(err)
	}
	c.abandon(place, w)
	p.Release()
	if c.InFlight() != 0 || c.waiting.Len() != 0 {
		t.Errorf("%d in flight, %d waiting", c.InFlight(), c.waiting.Len())
	}
}
