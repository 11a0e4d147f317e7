package redisstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// TestManyLikeTheModel sends random decisions of all operations, many in one call,
// into the store and one after the other into the model: 100,000 per algorithm. All
// answers are equal, and every key that is left has a lifetime.
func TestManyLikeTheModel(t *testing.T) {
	c := dial(t, redistest.Start(t))
	seed := algotest.Seed(t, 0)
	steps := algotest.Rounds(100_000, 2_000_000)
	var all sync.WaitGroup
	for _, kind := range algotest.Kinds() {
		all.Go(func() {
			for n, left := uint64(0), steps; left > 0 && !t.Failed(); n++ {
				m := newMany(t, c, algotest.Rand(seed+uint64(kind), n), kind)
				m.name = fmt.Sprintf("seed %d, %s, round %d", seed, algotest.KindName(kind), n)
				for range 40 {
					if left -= m.call(); left <= 0 || t.Failed() || m.Now > latest {
						break
					}
				}
			}
		})
	}
	all.Wait()
	wantLifetimes(t, c)
}

// latest is where clocks stop.
var latest = time.Date(2032, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// many is a store and the model with the same clock.
type many struct {
	*testing.T
	*algotest.Stream
	name   string
	store  *redisstore.Store
	model  *algotest.Model
	limits []*limit
	keys   int
	batch  []pair
	open   []held
	spent  []spent
	serial int
}

// limit is one that changes while the stream runs; its shape stays.
type limit struct {
	def  algo.Spec
	spec *algo.Spec
}

// pair is a decision for the store, and the same for the model.
type pair struct {
	op        store.Op
	got, want []store.Check
}

// held is a reservation that may be open.
type held struct {
	check store.Check
	until int64
}

// spent is what can be given back, with the mark of the model.
type spent struct {
	check store.Check
	model algo.Mark
}

func newMany(t *testing.T, c *resp.Client, r *rand.Rand, kind algo.Kind) *many {
	m := &many{T: t, keys: algotest.Pick(r, []int{1, 3, 40})}
	for i, k := range []algo.Kind{kind, kind, algotest.Pick(r, algotest.Kinds())} {
		def := algotest.RandomSpec(r, k)
		def.Ordinal = int64(i)
		m.limits = append(m.limits, &limit{def, mustCompile(t, def)})
	}
	m.Stream = algotest.NewStream(r, m.limits[0].def)
	m.Now = time.Date(2024, 5, 17, 10, 20, 30, 0, time.UTC).UnixMicro()
	now := func() time.Time { return time.UnixMicro(m.Now) }
	m.model = algotest.NewModel(now)
	m.store = fresh(c)(t, now).(*redisstore.Store)
	return m
}

// call makes one call of many decisions, and returns of how many.
func (m *many) call() int {
	m.Step()
	for range 1 + m.Rand.IntN(32) {
		m.draw()
	}
	done := m.flush()
	if m.Rand.IntN(20) == 0 {
		done += m.back()
	}
	return done
}

// flush makes the call, and compares.
func (m *many) flush() int {
	if len(m.batch) == 0 {
		return 0
	}
	var call []redisstore.Decision
	for _, p := range m.batch {
		call = append(call, redisstore.Decision{Op: p.op, Checks: p.got})
	}
	if err := m.store.TakeMany(context.Background(), call); err != nil {
		m.Errorf("%s: %v", m.name, err)
	}
	for i, p := range m.batch {
		if err := m.model.Take(context.Background(), p.op, p.want); err != nil || call[i].Err != nil {
			m.Errorf("%s: model %v, store %v", m.name, err, call[i].Err)
		}
		for j := range p.got {
			m.compare(i, p.op, &p.got[j], &p.want[j])
		}
	}
	done := len(m.batch)
	m.batch = nil
	return done
}

func (m *many) compare(i int, op store.Op, got, want *store.Check) {
	if a, b := figures(op, got), figures(op, want); a != b {
		m.Errorf("%s: decision %d, operation %d, cost %d of %q, %s: got %v, want %v",
			m.name, i, op, got.Cost, got.Key, algotest.Describe(*got.Spec), a, b)
		return
	}
	if got.Granted > 0 && op == store.Lease || op == store.Spend && got.Verdict.Allowed && got.Verdict.Wait > 0 {
		m.spent = append(m.spent, spent{*got, want.Mark})
	}
}

// figures are what is compared: allowed, never, window, wait, remaining, retry,
// reset, granted.
func figures(op store.Op, c *store.Check) [8]int64 {
	v, p := c.Verdict, c.Spec
	f := [8]int64{}
	if v.Allowed {
		f[0] = 1
	}
	if op != store.Spend && op != store.Reserve && op != store.Lease {
		return f
	}
	if v.Never {
		f[1] = 1
	}
	f[2], f[3], f[4], f[5], f[6] = int64(v.Window), v.Wait, p.Remaining(v), p.RetryAfter(v), p.ResetAfter(v)
	if op == store.Lease {
		f[7] = c.Granted
	}
	return f
}
