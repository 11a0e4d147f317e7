package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// remote is a store that the engine takes for one of another machine.
type remote struct{ store.Store }

// HonorsContext implements [store.Prompt].
func (remote) HonorsContext() bool { return true }

func enter(t testing.TB, e *engine.Engine, r engine.Request) engine.Entry {
	t.Helper()
	entry, err := e.Enter(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

// everywhere runs a test over a store in this process, one that is remote, and one of
// which tokens are leased.
func everywhere(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Run("near", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, memstore.New()) }) })
	t.Run("far", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, remote{memstore.New()}) }) })
	t.Run("leased", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, err := lease.New(memstore.New())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			test(t, s)
		})
	})
}

// TestEnter: there are as many in flight as the limit says, per key, and who leaves
// makes room, once.
func TestEnter(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		e := open(t, compile(t, perUser("reports", "concurrency 2", "instance: concurrency 9")), s)
		first, second := enter(t, e, from("ann")), enter(t, e, from("ann"))
		expect(t, first.Decision, "allowed by reports left 1")
		expect(t, second.Decision, "allowed by reports left 0")
		third := enter(t, e, from("ann"))
		expect(t, third.Decision, "denied limited by reports left 0")
		expect(t, enter(t, e, from("bob")).Decision, "allowed by reports left 1")
		third.Leave() // it holds nothing
		expect(t, enter(t, e, from("ann")).Decision, "denied limited by reports left 0")
		first.Leave()
		first.Leave()
		expect(t, enter(t, e, from("ann")).Decision, "allowed by reports left 0")
		expect(t, enter(t, e, from("ann")).Decision, "denied limited by reports left 0")
		engine.Entry{}.Leave()
	})
}

// TestCheckHoldsNothing: whoever cannot tell when a request is over is told what Enter
// would say, and takes no permit.
func TestCheckHoldsNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		ctx := t.Context()
		e := open(t, compile(t, perUser("reports", "concurrency 2", "1000/h")), s)
		look := func(want string) {
			t.Helper()
			for name, ask := range map[string]func() (engine.Decision, error){
				"Check": func() (engine.Decision, error) { return e.Check(ctx, from("ann")) },
				"Wait":  func() (engine.Decision, error) { return e.Wait(ctx, from("ann")) },
				"Peek":  func() (engine.Decision, error) { return e.Peek(ctx, from("ann")) },
				"CheckAll": func() (engine.Decision, error) {
					return e.CheckAll(ctx, []engine.Request{from("ann"), from("ann")}, make([]engine.Decision, 2))
				},
				"Reserve": func() (engine.Decision, error) {
					r, err := e.Reserve(ctx, from("ann"))
					return r.Decision, err
				},
			} {
				for range 3 {
					if d, err := ask(); err != nil || said(d) != want {
						t.Errorf("%s: %s, %v, want %s", name, said(d), err, want)
					}
				}
			}
		}
		look("allowed by reports left 1")
		enter(t, e, from("ann"))
		look("allowed by reports left 0")
		enter(t, e, from("ann"))
		look("denied limited by reports left 0")
	})
}

// TestEnterAllOrNothing: who finds no permit spends nothing, and who is denied by another
// limit holds nothing.
func TestEnterAllOrNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		e := open(t, compile(t, perUser("a", "concurrency 2", "instance: 5/h"), perUser("b", "fixed_window 3/h", "instance: concurrency 7")), s)
		left := func(want ...int64) {
			t.Helper()
			x, err := e.Explain(t.Context(), from("ann"))
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, r := range x.Rules {
				for _, l := range r.Limits {
					if got = append(got, l.Remaining); l.Limit.Algorithm == sluice.InFlight {
						got[len(got)-1] = l.InFlight
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("left and in flight: %v, want %v", got, want)
			}
		}
		one, two := enter(t, e, from("ann")), enter(t, e, from("ann"))
		left(2, 2, 0, 2) // a: rate of the instance, permits; b: rate, permits of the instance
		expect(t, enter(t, e, from("ann")).Decision, "denied limited by a left 0")
		left(2, 2, 0, 2)
		one.Leave()
		two.Leave()
		left(2, 0, 0, 0)
		enter(t, e, from("ann")).Leave()
		for range 3 {
			if d := enter(t, e, from("ann")); d.Allowed || d.Rule.Name != "b" || d.RetryAfter() == 0 {
				t.Errorf("got %s", said(d.Decision))
			}
		}
		left(1, 0, 0, 0)
	})
}

// TestEnterNeverAbove: many come and go at the same time, and never more than the limit
// are in; when all have gone, nothing is held.
func TestEnterNeverAbove(t *testing.T) {
	for name, s := range map[string]store.Store{"near": memstore.New(), "far": remote{memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			const most = 5
			e := open(t, compile(t, perUser("reports", fmt.Sprint("concurrency ", most), "instance: sliding_log 300/d"), perUser("other", "sliding_log 200/d")), s)
			var in, worst, entered atomic.Int64
			var all sync.WaitGroup
			for range 16 {
				all.Go(func() {
					for range 60 {
						entry, err := e.Enter(context.Background(), from("ann"))
						if err != nil {
							t.Error(err)
						}
						if entry.Allowed {
							n := in.Add(1)
							for was := worst.Load(); n > was && !worst.CompareAndSwap(was, n); was = worst.Load() {
							}
							entered.Add(1)
							in.Add(-1)
						}
						entry.Leave()
					}
				})
			}
			all.Wait()
			if worst.Load() > most || entered.Load() == 0 || entered.Load() > 200 {
				t.Errorf("%d at the same time, %d in all", worst.Load(), entered.Load())
			}
			if x, err := e.Explain(t.Context(), from("ann")); err != nil || x.Rules[0].Limits[1].InFlight != 0 {
				t.Errorf("%v: in flight in the end: %+v", err, x.Rules[0].Limits)
			}
		})
	}
}

// TestEnterModes: permits of rules that are not enforced, and of candidates, are taken and
// given back too, and refuse nobody.
func TestEnterModes(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		rec := &recorder{}
		e := open(t, compile(t, mode(perUser("soft", "concurrency 1"), rule.Shadow), withCandidate(perUser("hard", "concurrency 3"), "concurrency 2")),
			s, engine.WithObserver(rec))
		first := enter(t, e, from("ann"))
		expect(t, first.Decision, "allowed by hard left 2")
		second := enter(t, e, from("ann"))
		expect(t, second.Decision, "allowed by hard left 1 shadow")
		third := enter(t, e, from("ann"))
		expect(t, third.Decision, "allowed by hard left 0 shadow")
		expect(t, enter(t, e, from("ann")).Decision, "denied limited by hard left 0")
		stats := e.Stats().Rules
		if soft, hard := stats[0], stats[1]; soft.ShadowDenied != 3 || hard.CandidateDenied != 2 || hard.Denied != 1 || hard.CostAdmitted != 3 {
			t.Errorf("counted %+v", stats)
		}
		first.Leave()
		second.Leave()
		expect(t, enter(t, e, from("ann")).Decision, "allowed by hard left 1")
	})
}

// TestEnterAndSwap: who is in flight is so under the rules that let him in, and a limit
// that changes its number keeps who is in.
func TestEnterAndSwap(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		e := open(t, compile(t, perUser("reports", "concurrency 2")), s)
		swap := func(rules ...rule.Rule) {
			t.Helper()
			if err := e.Swap(compile(t, rules...)); err != nil {
				t.Fatal(err)
			}
		}
		entries := []engine.Entry{enter(t, e, from("ann")), enter(t, e, from("ann"))}
		swap(perUser("reports", "concurrency 3"))
		expect(t, enter(t, e, from("ann")).Decision, "allowed by reports left 0")
		swap(perUser("reports", "concurrency 1"))
		expect(t, enter(t, e, from("ann")).Decision, "denied limited by reports left 0")
		swap(perUser("reports", "9/s"))
		expect(t, enter(t, e, from("ann")).Decision, "allowed by reports left 8")
		for _, entry := range entries {
			entry.Leave()
		}
		swap(perUser("reports", "concurrency 2"))
		expect(t, enter(t, e, from("ann")).Decision, "allowed by reports left 0")
	})
}

// TestEnterWaits: nobody waits for a permit; who waits for a rate holds one meanwhile if
// its turn is booked, and none if it stands in a line; who gives up holds none.
func TestEnterWaits(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		slow := perUser("slow", "leaky_bucket 1/10s burst=9")
		slow.Wait = rule.Duration(time.Minute)
		e := open(t, compile(t, perUser("reports", "concurrency 3"), slow), s)
		begin := time.Now()
		expect(t, enter(t, e, from("ann")).Decision, "allowed by reports left 2")
		second, err := e.EnterWait(t.Context(), from("ann"))
		if err != nil || time.Since(begin) != 10*time.Second || second.Wait() != 0 {
			t.Errorf("%v after %v: %s", err, time.Since(begin), said(second.Decision))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		go func() {
			time.Sleep(time.Second)
			if d := check(t, e, from("ann")); d.Allowed {
				t.Errorf("while one waits: %s", said(d))
			}
			cancel()
		}()
		if third, err := e.EnterWait(ctx, from("ann")); !errors.Is(err, context.Canceled) || third.Allowed {
			t.Errorf("%v: %s", err, said(third.Decision))
		}
		second.Leave()
		x, err := e.Explain(t.Context(), from("ann"))
		if err != nil || x.Rules[0].Limits[0].InFlight != 1 {
			t.Errorf("%v: %+v", err, x.Rules[0].Limits)
		}
	})
}

// TestEnterReserve: what is settled afterwards holds permits until it leaves, and not only
// until it is settled.
func TestEnterReserve(t *testing.T) {
	everywhere(t, func(t *testing.T, s store.Store) {
		e := open(t, compile(t, perUser("reports", "concurrency 1"), perUser("tokens", "100/h")), s)
		ask := from("ann")
		ask.Cost = 10
		r, err := e.EnterReserve(t.Context(), ask)
		if err != nil || !r.OK() {
			t.Fatal(err, said(r.Decision))
		}
		if err := r.Commit(t.Context(), 30); err != nil {
			t.Error(err)
		}
		expect(t, check(t, e, from("ann")), "denied limited by reports left 0")
		refused, err := e.EnterReserve(t.Context(), ask)
		if err != nil || refused.OK() {
			t.Error(err, said(refused.Decision))
		}
		refused.Leave()
		r.Leave()
		x, err := e.Explain(t.Context(), from("ann"))
		if err != nil || x.Rules[0].Limits[0].InFlight != 0 || x.Rules[1].Limits[0].Remaining/2 != 34 { // 69, or by a lease 68
			t.Errorf("%v: %+v", err, x.Rules)
		}
		if err := e.Reset(t.Context(), from("ann")); err != nil {
			t.Error(err)
		}
	})
}

// TestEnterRandomly: whatever is asked of two engines over one store, in which order, the
// number in flight is that of those who entered and have not left.
func TestEnterRandomly(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			s := remote{memstore.New()}
			rules := compile(t, perUser("reports", "concurrency 4", "instance: concurrency 3"), perUser("rate", "sliding_log 20/m"))
			engines := []*engine.Engine{open(t, rules, s), open(t, rules, s)}
			held := [2][]engine.Entry{}
			for range 200 {
				n := r.IntN(2)
				switch e := engines[n]; r.IntN(5) {
				case 0, 1:
					if entry := enter(t, e, from("ann")); entry.Allowed {
						held[n] = append(held[n], entry)
					}
				case 2, 3:
					if len(held[n]) > 0 {
						held[n][0].Leave()
						held[n] = held[n][1:]
					}
				case 4:
					time.Sleep(time.Duration(r.IntN(20)) * time.Second)
				}
				synctest.Wait()
				x, err := engines[n].Explain(t.Context(), from("ann"))
				if err != nil {
					t.Fatal(err)
				}
				all, own := x.Rules[0].Limits[0].InFlight, x.Rules[0].Limits[1].InFlight
				if all != int64(len(held[0])+len(held[1])) || own != int64(len(held[n])) || all > 4 || own > 3 {
					t.Fatalf("seed %d: %d and %d in flight, held are %d and %d", seed, all, own, len(held[0]), len(held[1]))
				}
			}
		})
	}
}
