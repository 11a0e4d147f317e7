package probe

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Step is what happened at one rate.
type Step struct {
	Rate    float64 // calls per second that were due
	Due     int     // calls of the schedule
	Sent    int     // of those; a step that cannot hold any more ends early
	Failed  int     // returned an error
	Dropped int     // not made, for too many were in flight
	Slow    int     // answered without an error, but later than the goal allows

	P50, P90, P99, Longest time.Duration // of calls without an error, from when they were due
	AtGoal                 time.Duration // at the quantile of the goal
	Lag                    time.Duration // 99 % of the calls were made no later than this after they were due

	Held  bool
	Late  bool   // it did not hold, but calls began so late that this says nothing of the target
	Why   string // it did not hold
	Error string // the first one
}

// record collects what becomes of the calls of a step. Whoever uses it holds the lock of
// the loader.
type record struct {
	Step
	goal      *Goal
	latencies []time.Duration
	lags      []time.Duration
}

func newRecord(rate float64, due int, goal *Goal) *record {
	return &record{Step: Step{Rate: rate, Due: due}, goal: goal, latencies: make([]time.Duration, 0, due), lags: make([]time.Duration, 0, due)}
}

// done adds a call that has returned.
func (r *record) done(latency time.Duration, err error) {
	switch {
	case err != nil:
		r.fail(err)
		return
	case latency > r.goal.Latency:
		r.Slow++
	}
	r.latencies = append(r.latencies, latency)
}

func (r *record) fail(err error) {
	if r.Failed++; r.Error == "" {
		r.Error = err.Error()
	}
}

// broken reports whether the step cannot hold, whatever the rest of it will be. Of few
// calls one may be slow or fail, else nothing would hold.
func (r *record) broken() bool {
	return r.Slow > budget(1-r.goal.Quantile, r.Due) || r.Failed+r.Dropped > budget(r.goal.Errors, r.Due)
}

func budget(share float64, due int) int {
	return max(int(math.Floor(share*float64(due)+1e-9)), 1)
}

// finish works out the figures.
func (r *record) finish() Step {
	slices.Sort(r.latencies)
	slices.Sort(r.lags)
	s := r.Step
	s.P50, s.P90, s.P99, s.Longest = percentile(r.latencies, 0.5), percentile(r.latencies, 0.9), percentile(r.latencies, 0.99), percentile(r.latencies, 1)
	s.AtGoal = percentile(r.latencies, r.goal.Quantile)
	s.Lag = percentile(r.lags, 0.99)
	s.Held = !r.broken()
	if !s.Held {
		s.Late, s.Why = s.Lag > r.goal.Latency/2, r.why()
	}
	return s
}

func (r *record) why() string {
	switch {
	case r.Sent > 0 && percentile(r.lags, 0.99) > r.goal.Latency/2:
		return fmt.Sprintf("this machine was too slow: 1 %% of the calls began more than %v late", percentile(r.lags, 0.99).Round(time.Millisecond))
	case r.Dropped > r.Failed:
		return fmt.Sprintf("%d calls found too many in flight", r.Dropped)
	case r.Failed+r.Dropped > budget(r.goal.Errors, r.Due):
		return fmt.Sprintf("%d of %d calls failed: %s", r.Failed+r.Dropped, r.Sent+r.Dropped, r.Error)
	}
	return fmt.Sprintf("%d of %d calls took longer than %v", r.Slow, r.Sent, r.goal.Latency)
}

// percentile returns the value that a share of the sorted ones does not pass.
func percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}
