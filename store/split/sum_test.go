package split_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store/split"
)

// TestSharesAddUp: members come, go and die. Those who have lived for longer than a
// beat never have more than the whole together, and everybody who came since then
// adds at most the share of one more.
func TestSharesAddUp(t *testing.T) {
	seed := algotest.Seed(t, 0)
	for n := range uint64(algotest.Rounds(8, 500)) {
		synctest.Test(t, func(t *testing.T) {
			rand := algotest.Rand(seed, n)
			f := &fleet{registry: newRegistry(), alive: map[*split.Member]time.Time{}}
			for step := range 400 {
				switch k := rand.IntN(100); {
				case k < 6:
					as := split.Membership{ID: fmt.Sprintf("%04d", rand.IntN(10_000)*1000+step), Hold: hold}
					f.alive[join(t, f.registry, as)] = time.Now()
				case k < 8:
					if m := f.any(); m != nil {
						m.Close()
						delete(f.alive, m)
					}
				case k < 10:
					if m := f.any(); m != nil {
						f.registry.cut(m.ID, true)
						delete(f.alive, m)
					}
				}
				time.Sleep(time.Duration(rand.Int64N(int64(beat / 2))))
				synctest.Wait()
				f.judge(t)
			}
			time.Sleep(hold + pause)
			synctest.Wait()
			if f.judge(t); len(f.alive) > 0 && f.sum() < 1-1e-9 {
				t.Errorf("after all have heard of all: only %v of the whole", f.sum())
			}
			if t.Failed() {
				t.Fatalf("seed %d, round %d", seed, n)
			}
		})
	}
}

type fleet struct {
	registry *registry
	alive    map[*split.Member]time.Time // since when
}

func (f *fleet) any() *split.Member {
	for m := range f.alive {
		return m
	}
	return nil
}

// sum is what all who live have together of the whole.
func (f *fleet) sum() float64 {
	sum := 0.0
	for m := range f.alive {
		_, live := m.Share()
		sum += 1 / float64(live)
	}
	return sum
}

func (f *fleet) judge(t *testing.T) {
	young := 0
	for _, since := range f.alive {
		if time.Since(since) <= pause {
			young++
		}
	}
	most := 1 + float64(young)/float64(len(f.alive)-young+1)
	if sum := f.sum(); sum > most+1e-9 {
		t.Errorf("%d live, %d are new: %v of the whole, at most %v expected", len(f.alive), young, sum, most)
	}
}
