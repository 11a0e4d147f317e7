package split_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestChurn: what the documentation says of a fleet that changes within a window is
// what it admits.
func TestChurn(t *testing.T) {
	day := compile(t, algo.Spec{Kind: algo.FixedWindow, Count: 840, Period: 24 * 3600 * second})
	w := newWorld(t, 0)
	var grown int64
	for live := 1; live <= 8; live++ {
		w.start(&split.Fixed{Rank: live - 1})
		for _, s := range w.shares {
			s.Live = live
		}
		grown += w.drain(day)
	}
	if grown != 2283 {
		t.Errorf("from 1 to 8 instances: %d admitted", grown)
	}
	var deployed int64
	for range 3 {
		deployed += newWorld(t, 8).drain(day)
	}
	if deployed != 2520 {
		t.Errorf("8 instances, started three times: %d admitted", deployed)
	}
}

// deaf is a registry that loses beats after the first, and then answers as late as it
// may.
type deaf struct {
	lose, beats int
	heard       time.Time
	longest     time.Duration // between two beats that were heard
}

func (d *deaf) Beat(ctx context.Context, _, _ string, _ time.Duration) (rank, live int, err error) {
	d.beats++
	if 1 < d.beats && d.beats <= 1+d.lose {
		<-ctx.Done()
		return 0, 0, ctx.Err()
	}
	if until, ok := ctx.Deadline(); ok && d.beats > 1 {
		time.Sleep(time.Until(until) - time.Millisecond)
	}
	if d.beats > 1 {
		d.longest = max(d.longest, time.Since(d.heard))
	}
	d.heard = time.Now()
	return 0, 1, nil
}

func (d *deaf) Leave(context.Context, string, string) error { return nil }

// TestLostBeats: two in a row may be lost before a member counts as dead.
func TestLostBeats(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			d := &deaf{lose: 2}
			m, err := split.Join(t.Context(), d, split.Membership{Hold: hold})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * hold)
			m.Close()
			if d.longest >= hold {
				t.Errorf("heard of after %v, dead after %v", d.longest, hold)
			}
		})
	}
}

// TestInFlight: what is in flight here is the difference to the whole limit.
func TestInFlight(t *testing.T) {
	s := split.New(memstore.New(), split.Fixed{Rank: 0, Live: 3})
	nine := compile(t, algo.Spec{Kind: algo.Concurrency, Count: 9})
	for held, id := range []string{"a", "b", "c", "d"} {
		checks := []store.Check{{Key: "db", Spec: nine, ID: id, Hold: 3600 * second}}
		for _, checks[0].Cost = range []int64{0, 1} {
			if err := s.Take(t.Context(), store.Acquire, checks); err != nil {
				t.Fatal(err)
			}
			inFlight := nine.Count - nine.Remaining(checks[0].Verdict)
			if want := min(3, int64(held)+checks[0].Cost); inFlight != want || checks[0].Verdict.Allowed != (held < 3) {
				t.Errorf("%s, cost %d: %d in flight, want %d: %+v", id, checks[0].Cost, inFlight, want, checks[0].Verdict)
			}
		}
	}
}
