package failover_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestDeadline: a decision takes no longer, even if the store hangs and ignores its
// context, and after the first few takes no time at all.
func TestDeadline(t *testing.T) {
	for name, opts := range map[string][]failover.Option{
		"hangs": nil, "slow": nil, "direct": {failover.Direct()}, "own": {failover.Deadline(20 * time.Millisecond)},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, opts...)
			w.main.set(nil, time.Hour, name == "hangs")
			deadline := failover.DefaultDeadline
			if name == "own" {
				deadline = 20 * time.Millisecond
			}
			begin, slow := time.Now(), 0
			for range 100 {
				before := time.Now()
				if c := w.spend(w.store); !c.Degraded {
					t.Errorf("%s: not marked", name)
				}
				switch took := time.Since(before); took {
				case 0:
				case deadline:
					slow++
				default:
					t.Errorf("%s: took %v", name, took)
				}
			}
			if took := time.Since(begin); took > time.Second || slow == 0 || !w.store.Stats().Open {
				t.Errorf("%s: %d slow decisions, %v until the breaker was open", name, slow, took)
			}
			w.heal()
			synctest.Wait()
			if n := w.store.Stats().Running; n != 0 {
				t.Errorf("%s: %d calls are left", name, n)
			}
		})
	}
}

// TestPolicies: each does what it says, and marks it.
func TestPolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.open()
		allow, deny := w.store.WithPolicy(failover.Allow), w.store.WithPolicy(failover.Deny)
		for range 20 {
			if c := w.spend(allow); !c.Verdict.Allowed || !c.Degraded || ten.Remaining(c.Verdict) != 0 {
				t.Errorf("allow: %+v", c)
			}
			c := w.spend(deny)
			if c.Verdict.Allowed || c.Verdict.Never || !c.Degraded || ten.RetryAfter(c.Verdict) != 500_000 {
				t.Errorf("deny: %+v", c)
			}
		}
		allowed := 0
		for range 20 {
			if c := w.take(w.store, store.Spend, store.Check{Key: "bob", Spec: ten, Cost: 1}); c.Verdict.Allowed {
				allowed++
			}
		}
		if allowed != 10 {
			t.Errorf("local: %d allowed, want 10", allowed)
		}
		for _, s := range []store.Store{allow, deny, w.store} { // no policy is a way round the limit
			if c := w.take(s, store.Spend, store.Check{Key: "bob", Spec: ten, Cost: 11}); c.Verdict.Allowed || !c.Verdict.Never {
				t.Errorf("cost 11 of 10: %+v", c.Verdict)
			}
		}
		ban := must(algo.Compile(algo.Spec{Kind: algo.Ban}))
		if c := w.take(allow, store.Spend, store.Check{Key: "bob", Spec: ban, Cost: 1}); c.Verdict.Allowed {
			t.Error("a ban is lifted")
		}
		w.heal()
		again := store.Check{Key: "ann", Spec: ten, Cost: 1, Degraded: true}
		if c := w.take(deny, store.Spend, again); !c.Verdict.Allowed || c.Degraded {
			t.Errorf("healed: %+v", c)
		}
		if names := failover.Local.String() + deny.Policy().String() + allow.Policy().String(); names != "localdenyallow" {
			t.Error(names)
		}
	})
}

// TestFaults: those of the input, and a store without room, are the caller's, with
// every policy and in every state.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, open := range []bool{false, true} {
			if open {
				w.open()
			}
			for _, p := range []failover.Policy{failover.Local, failover.Allow, failover.Deny} {
				for want, c := range map[error]store.Check{
					store.ErrKey:  {Spec: ten, Cost: 1},
					store.ErrCost: {Key: "ann", Spec: ten, Cost: -1},
				} {
					if err := w.store.WithPolicy(p).Take(t.Context(), store.Spend, []store.Check{c}); !errors.Is(err, want) {
						t.Errorf("%v, open %v: %v, want %v", p, open, err, want)
					}
					time.Sleep(200 * time.Millisecond)
				}
			}
			if s := w.store.Stats(); !open && s.Opened+s.Degraded > 0 {
				t.Errorf("opened %d times, %d degraded: the store is blamed", s.Opened, s.Degraded)
			}
		}
		w.heal()
		w.main.set(store.ErrFull, 0, false)
		for range 50 {
			err := w.store.Take(t.Context(), store.Spend, []store.Check{{Key: "ann", Spec: ten}})
			if !errors.Is(err, store.ErrFull) || w.store.Stats().Open {
				t.Fatalf("full: %v", err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
}

// TestCaller: who gives up gets his own error, and the store is not blamed, unless it
// had time enough, or nobody gets an answer.
func TestCaller(t *testing.T) {
	for _, c := range []struct {
		name    string
		after   time.Duration
		answers bool // others get one, now and then
		err     error
		opens   bool
	}{
		{"cancelled", 0, false, context.Canceled, false},
		{"hopeless", 4 * time.Millisecond, false, context.DeadlineExceeded, false},
		{"impatient", 10 * time.Millisecond, true, context.DeadlineExceeded, false},
		{"all impatient", 10 * time.Millisecond, false, context.DeadlineExceeded, true},
		{"patient enough", 30 * time.Millisecond, false, context.DeadlineExceeded, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for i := range 100 {
				if w.main.set(nil, time.Hour, false); c.answers && i%4 == 0 {
					w.main.set(nil, 0, false)
					w.spend(w.store)
					w.main.set(nil, time.Hour, false)
				}
				ctx, cancel := context.WithCancel(t.Context())
				if c.after > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), c.after)
				} else {
					time.AfterFunc(40*time.Millisecond, cancel)
				}
				err := w.store.Take(ctx, store.Spend, []store.Check{{Key: "ann", Spec: ten, Cost: 1}})
				cancel()
				if w.store.Stats().Open {
					break
				}
				if !errors.Is(err, c.err) {
					t.Errorf("%s: %v, want %v", c.name, err, c.err)
				}
			}
			if got := w.store.Stats().Open; got != c.opens {
				t.Errorf("%s: open %v, want %v", c.name, got, c.opens)
			}
			w.heal()
		})
	}
}

// TestLog: at most one line a second, however many decisions, and one per change.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newWorld(t, failover.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		w.open()
		for range 300 {
			w.spend(w.store)
			time.Sleep(10 * time.Millisecond)
		}
		w.heal()
		text := log.String()
		if n := strings.Count(text, "deciding without the store\""); n < 3 || n > 5 {
			t.Errorf("%d lines in three seconds:\n%s", n, text)
		}
		if strings.Count(text, "is down") != 1 || strings.Count(text, "is back") != 1 || !strings.Contains(text, errReset.Error()) {
			t.Errorf("changes:\n%s", text)
		}
		if n := w.store.Stats().Degraded; n < 300 {
			t.Errorf("%d degraded", n)
		}
	})
}

func TestNew(t *testing.T) {
	m := memstore.New()
	for want, open := range map[error]func() (*failover.Store, error){
		failover.ErrStore:    func() (*failover.Store, error) { return failover.New(m, nil) },
		failover.ErrDeadline: func() (*failover.Store, error) { return failover.New(m, m, failover.Deadline(0)) },
	} {
		if _, err := open(); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	s := must(failover.New(m, m))
	if err := s.Take(t.Context(), store.Spend, nil); err != nil {
		t.Errorf("no checks: %v", err)
	}
}
