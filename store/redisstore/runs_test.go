package redisstore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store"
)

// TestRunsLikeTheModel sends calls of nothing but token buckets, in which many equal
// requests follow each other. The script tells only where the buckets stood before
// them: all verdicts that are made of that are the model's, and so is what is left.
func TestRunsLikeTheModel(t *testing.T) {
	c := dial(t, redistest.Start(t))
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(300, 10_000)) {
		r := algotest.Rand(seed, n)
		m := newMany(t, c, r, algo.TokenBucket)
		m.name = fmt.Sprintf("seed %d, round %d", seed, n)
		m.limits = m.limits[:1+r.IntN(2)]
		for range 20 {
			m.Step()
			for range 1 + r.IntN(4) {
				m.run()
			}
			m.flush()
			if r.IntN(20) == 0 {
				m.back()
			}
			if t.Failed() || m.Now > latest {
				break
			}
		}
	}
	wantLifetimes(t, c)
}

// run adds equal requests of all limits of one key.
func (m *many) run() {
	m.row()
	last := m.batch[len(m.batch)-1]
	for range m.Rand.IntN(12) {
		m.batch = append(m.batch, pair{store.Spend, slices.Clone(last.got), slices.Clone(last.want)})
	}
}
