package redis

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/e2e/redistest"
	"github.com/sluice-limiter/sluice/store"
)

// history is what several callers saw.
type history struct {
	ticks    atomic.Int64 // orders calls and returns
	complain sync.Once    // one error is enough

	mu  sync.Mutex // guards ops
	ops []porcupine.Operation
}

// take makes one call and notes it.
func (h *history) take(t testing.TB, caller int, s store.Store, op store.Op, checks []store.Check) {
	asked := append([]store.Check(nil), checks...)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	called := h.ticks.Add(1)
	if err := s.Take(ctx, op, checks); err != nil {
		h.complain.Do(func() { t.Errorf("take: %v", err) })
		return
	}
	returned := h.ticks.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: caller, Call: called, Return: returned,
		Input: request{op, asked}, Output: reply{checks[0].Now, answersOf(checks)},
	})
}

// record lets a crowd make n calls each at several stores.
func record(t testing.TB, seed uint64, crowd, n int, stores []store.Store, draw func(r *rand.Rand) (store.Op, []store.Check)) *history {
	t.Helper()
	h := &history{}
	var wg sync.WaitGroup
	for caller := range crowd {
		wg.Go(func() {
			r := algotest.Rand(seed, uint64(caller))
			for range n {
				op, checks := draw(r)
				h.take(t, caller, stores[caller%len(stores)], op, checks)
			}
		})
	}
	wg.Wait()
	return h
}

// early finds a call that was decided before one that had returned when it began:
// the clock of the server does not go back.
func (h *history) early() (call string, found bool) {
	slices.SortFunc(h.ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for i, o := range h.ops {
		for _, before := range h.ops[:i] {
			if before.Return < o.Call && instant(before) > instant(o) {
				return model.DescribeOperation(o.Input, o.Output), true
			}
		}
	}
	return "", false
}

func instant(o porcupine.Operation) int64 { return o.Output.(reply).now }

// linearizable asks porcupine whether there is an order. What was decided at
// different instants is in the order of these; porcupine has to look for one only
// among calls of the same instant. It tries those first that change nothing, or it
// would have to try their permutations.
func (h *history) linearizable() bool {
	ops := slices.Clone(h.ops)
	for i := range ops {
		at := 4 * instant(ops[i])
		ops[i].Call, ops[i].Return = at, at+2
		if changes(ops[i]) {
			ops[i].Call++
		}
	}
	return porcupine.CheckOperations(model, ops)
}

// changes tells whether a call has spent something.
func changes(o porcupine.Operation) bool {
	for i, c := range o.Input.(request).checks {
		if o.Output.(reply).answers[i].allowed && c.Cost > 0 {
			return true
		}
	}
	return false
}

// judge complains about a history without an order.
func (h *history) judge(t testing.TB, name string) {
	t.Helper()
	if call, found := h.early(); found {
		t.Fatalf("%s: decided before what came before it: %s", name, call)
	}
	if h.linearizable() {
		return
	}
	var b strings.Builder
	for _, o := range h.ops {
		fmt.Fprintf(&b, "%d..%d caller %d: %s\n", o.Call, o.Return, o.ClientId, model.DescribeOperation(o.Input, o.Output))
	}
	t.Fatalf("%s is not linearizable:\n%s", name, b.String())
}

// draws returns a function that draws calls over the given limits: of one key each,
// or of several keys.
func draws(prefix string, specs []*algo.Spec, keys int) func(r *rand.Rand) (store.Op, []store.Check) {
	return func(r *rand.Rand) (store.Op, []store.Check) {
		op := store.Spend
		if r.IntN(5) == 0 {
			op = store.Lease
		}
		var checks []store.Check
		for range 1 + r.IntN(keys) {
			i := r.IntN(keys)
			c := store.Check{Key: fmt.Sprint(prefix, i), Spec: specs[i%len(specs)], Cost: 1 + r.Int64N(4)}
			if op == store.Lease {
				c.Want = c.Cost + r.Int64N(8)
			} else if op == store.Spend && r.IntN(4) == 0 {
				c.Cost = 0
			}
			checks = append(checks, c)
		}
		return op, checks
	}
}

// TestSoakLinear: whatever callers of both clients see at once could have been seen
// by one after the other, each deciding by package algo at the instant that the
// server has told.
func TestSoakLinear(t *testing.T) {
	server := redistest.Start(t)
	stores, seed := openStores(t, standalone(server), 1, asked), algotest.Seed(t, 0)
	for _, p := range limitsOfAllKinds(t) {
		for n := range algotest.Rounds(4, 1000) {
			name := fmt.Sprintf("%s %d", algotest.KindName(p.Kind), n)
			record(t, seed+uint64(n), 8, 15, stores, draws(fmt.Sprint("one ", p.Shape(), n), []*algo.Spec{p}, 1)).judge(t, name)
		}
	}
	for n := range algotest.Rounds(20, 1000) {
		draw := draws(fmt.Sprint("several ", n), limitsOfAllKinds(t), 4)
		record(t, seed+uint64(n), 8, 15, stores, draw).judge(t, fmt.Sprint("several keys ", n))
	}
	wantTTLs(t, server)
}

// TestSoakLinearTogether: likewise when so many call at once that decisions ride
// together, at one instant of the server.
func TestSoakLinearTogether(t *testing.T) {
	server, seed, rounds := redistest.Start(t), algotest.Seed(t, 0), algotest.Rounds(10, 1000)
	s := []store.Store{openStore(t, clients[0].open, standalone(server), asked)}
	for n := range rounds {
		draw := onOneKey(fmt.Sprint("k", n), compile(t, []algo.Spec{slow, quick}[n%2]))
		record(t, seed+uint64(n), 64, 3, s, draw).judge(t, fmt.Sprint("history ", n))
	}
	if calls := server.Calls(); calls["evalsha"] >= rounds*64*3 {
		t.Errorf("%d calls: no decisions rode together", calls["evalsha"])
	}
}

// twice is a store whose client sends some scripts again.
type twice struct {
	store.Store
	calls atomic.Int64
}

func (s *twice) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if s.calls.Add(1)%10 == 0 {
		if err := s.Store.Take(ctx, op, append([]store.Check(nil), checks...)); err != nil {
			return err
		}
	}
	return s.Store.Take(ctx, op, checks)
}

// TestTwiceIsFound: a history of scripts that ran twice has no order.
func TestTwiceIsFound(t *testing.T) {
	server := redistest.Start(t)
	s := &twice{Store: openStore(t, clients[0].open, standalone(server), asked)}
	draw := onOneKey("k", compile(t, slow))
	if record(t, algotest.Seed(t, 0), 8, 30, []store.Store{s}, draw).linearizable() {
		t.Error("scripts that ran twice were not noticed")
	}
}

// onOneKey draws spends and peeks of one key.
func onOneKey(key string, p *algo.Spec) func(r *rand.Rand) (store.Op, []store.Check) {
	return func(r *rand.Rand) (store.Op, []store.Check) {
		return store.Spend, []store.Check{{Key: key, Spec: p, Cost: r.Int64N(3)}}
	}
}
