package local

import (
	"time"

	"github.com/sluice-limiter/sluice/bench/floor"
)

// lags is the doubt of all coarse clocks: a step of the clock that comes late
// finds a full bucket, and what would have come in the meantime is lost.
const lags = "its clock lags, so it may admit less"

// Names of the floors.
const (
	floorBucket = "floor: CAS + monotonic clock"
	floorCoarse = "floor: CAS + coarse clock"
	floorWord   = "floor: load + CAS, no clock, no limit"
	floorTable  = "floor: flat table"
	floorStates = "floor: flat table, lock, state"
)

func floors() []Contestant {
	return []Contestant{{
		Name: floorBucket, Kind: Floor,
		NewSingle: func(q Quota) Single { return floorSingle{floor.NewBucket(floorLimit(q))} },
	}, {
		Name: floorCoarse, Kind: Floor, Doubt: lags,
		NewSingle: newFloorCoarse,
	}, {
		Name: floorTable, Kind: Floor,
		NewKeyed: func(q Quota, keys int) Keyed {
			return floorKeyed{floor.NewTable(floorLimit(q), keys)}
		},
	}}
}

// stateFloor is the floor of an algorithm whose states are more than a few words.
func stateFloor(build func(q Quota, keys int) floorTaker) func(q Quota, keys int) Keyed {
	return func(q Quota, keys int) Keyed { return floorKeyed{build(q, keys)} }
}

func windowFloor(q Quota, keys int) floorTaker { return floor.NewWindowTable(q.Count, q.Period, keys) }
func logFloor(q Quota, keys int) floorTaker    { return floor.NewLogTable(q.Count, q.Period, keys) }
func warmUpFloor(q Quota, keys int) floorTaker {
	return floor.NewWarmUpTable(q.Count, q.Period, warmUpTime, keys)
}

// wordFloor shows what the fastest word takes: it takes part only beside a clock that
// takes no time.
func wordFloor() Contestant {
	return Contestant{
		Name: floorWord, Kind: Floor, Doubt: "admits everything",
		NewSingle: func(Quota) Single { return floorWordSingle{new(floor.Word)} },
	}
}

func floorLimit(q Quota) floor.Limit { return floor.NewLimit(q.Count, q.Period, q.Burst) }

type floorSingle struct{ b *floor.Bucket }

// Run implements Single.
func (f floorSingle) Run(n int) (t Tally) {
	for range n {
		t.count(f.b.Allow())
	}
	return t
}

type floorWordSingle struct{ w *floor.Word }

// Run implements Single.
func (f floorWordSingle) Run(n int) (t Tally) {
	for range n {
		t.count(f.w.Allow())
	}
	return t
}

type floorCoarseSingle struct {
	b *floor.CoarseBucket
	c *floor.CoarseClock
}

func newFloorCoarse(q Quota) Single {
	c := floor.NewCoarseClock(time.Millisecond)
	return floorCoarseSingle{floor.NewCoarseBucket(floorLimit(q), c), c}
}

// Run implements Single.
func (f floorCoarseSingle) Run(n int) (t Tally) {
	for range n {
		t.count(f.b.Allow())
	}
	return t
}

// Close stops the clock.
func (f floorCoarseSingle) Close() { f.c.Stop() }

type floorTaker interface{ Allow(key string) bool }

type floorKeyed struct{ t floorTaker }

// Run implements Keyed.
func (f floorKeyed) Run(seq string) (t Tally) {
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		t.count(f.t.Allow(seq[:KeyLen]))
	}
	return t
}
