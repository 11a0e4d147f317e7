package redisstore_test

import (
	"fmt"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store"
)

// TestLongLogLikeTheModel lets logs grow to thousands of entries, of which the
// oldest leave and the newest are given back, while the clock goes on and back.
func TestLongLogLikeTheModel(t *testing.T) {
	c := dial(t, redistest.Start(t))
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(12, 1000)) {
		r := algotest.Rand(seed, n)
		m := newMany(t, c, r, algo.SlidingLog)
		m.name = fmt.Sprintf("seed %d, round %d", seed, n)
		def := algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 200 + r.Int64N(5000), Period: 1e6}, {Count: 100 + r.Int64N(5000), Period: 300_000}}}
		m.keys, m.limits = 1, []*limit{{def, mustCompile(t, def)}}
		pace := 1 + r.Int64N(20_000)
		for range 150 {
			m.Now += r.Int64N(pace)
			for range 60 {
				m.drawLog()
			}
			if m.flush(); r.IntN(40) == 0 {
				m.Now -= r.Int64N(100_000)
				m.open = nil // an expired one may have been forgotten
			}
			if r.IntN(60) == 0 {
				m.Now += 700_000 // most of it leaves
			}
			if t.Failed() {
				return
			}
		}
	}
	wantLifetimes(t, c)
}

// drawLog adds a decision that lets the log grow, or seldom one that does not.
func (m *many) drawLog() {
	check := store.Check{Key: "key 0", Spec: m.limits[0].spec, Cost: m.Rand.Int64N(3)}
	switch k := m.Rand.IntN(1000); {
	case k < 960:
		m.add(store.Spend, []store.Check{check})
	case k < 970:
		check.Cost = m.Rand.Int64N(400)
		m.add(store.Refund, []store.Check{check})
	case k < 980:
		check.Cost, check.Want = 1, 1+m.Rand.Int64N(50)
		m.add(store.Lease, []store.Check{check})
	case k < 990:
		m.giveBack()
	case k < 995:
		m.reserve()
	default:
		m.settle()
	}
}

// TestLogStartsFromZero: running totals that have grown too large for what a double
// holds exactly are counted from zero again.
func TestLogStartsFromZero(t *testing.T) {
	c := dial(t, redistest.Start(t))
	m := newMany(t, c, algotest.Rand(1, 1), algo.SlidingLog)
	def := algo.Spec{Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 1000, Period: 1e6}}}
	spec := mustCompile(t, def)
	m.name, m.limits = "debts", []*limit{{def, spec}}
	start := m.Now
	check := func(id string, cost int64) []store.Check {
		return []store.Check{{Key: "k", Spec: spec, ID: id, Cost: cost, Hold: 1e7}}
	}
	at := func(micros int64, op store.Op, checks ...[]store.Check) {
		m.Now = start + micros
		for _, c := range checks {
			m.add(op, c)
		}
		m.flush()
	}
	at(0, store.Reserve, check("a", 1), check("b", 1), check("c", 1), check("d", 1), check("e", 1))
	at(100_000, store.Commit, check("a", algo.MaxCount), check("b", algo.MaxCount), check("c", algo.MaxCount), check("d", algo.MaxCount))
	at(900_000, store.Commit, check("e", 5)) // outlives the others
	at(1_100_001, store.Spend, check("", 1), check("", 2), check("", 993), check("", 1))
	at(1_150_000, store.Refund, check("", 3))
	at(1_200_000, store.Spend, check("", 0), check("", 3))
	at(1_900_001, store.Spend, check("", 0), check("", 4))
	if v := m.spendOne(check("", 0)); spec.Remaining(v) != 0 {
		t.Errorf("%d remain, want none", spec.Remaining(v))
	}
}

// spendOne asks the store alone.
func (m *many) spendOne(checks []store.Check) algo.Verdict {
	return take(m, m.store, store.Spend, checks...)[0].Verdict
}
