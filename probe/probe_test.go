package probe_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/probe"
)

// TestKnownCapacity: of ten seeded runs against backends of known capacity, nine find it
// within 10 % and have it in their range.
func TestKnownCapacity(t *testing.T) {
	const runs, enough = 10, 9
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			near, covered, narrow := 0, 0, 0
			for seed := range uint64(runs) {
				synctest.Test(t, func(t *testing.T) {
					begin := time.Now()
					r, err := probe.Run(t.Context(), b.make(seed), probe.Options{Now: time.Now, Seed: seed})
					if err != nil || r.Stopped != "" || len(r.Knees) != 5 {
						t.Fatalf("seed %d: %v, %+v", seed, err, r)
					}
					off := r.Capacity/b.capacity - 1
					t.Logf("seed %d: %.0f/s (%.0f to %.0f), %+.1f %%, %d steps, %d calls in %v", seed, r.Capacity, r.Low, r.High, 100*off, len(r.Steps), r.Calls, time.Since(begin).Round(time.Second))
					if math.Abs(off) <= 0.1 {
						near++
					}
					if r.Low <= b.capacity && b.capacity <= r.High {
						covered++
					}
					if r.Low <= r.Capacity && r.Capacity <= r.High && r.High < 1.5*r.Low {
						narrow++
					}
				})
			}
			if near < enough || covered < enough || narrow != runs {
				t.Errorf("%d of %d runs found %.0f/s within 10 %%, %d have it in their range, %d have a narrow range", near, runs, b.capacity, covered, narrow)
			}
		})
	}
}

// once is a search that makes one step only.
func once(rate float64) probe.Options {
	return probe.Options{Now: time.Now, Start: rate, Max: rate, Repeats: 1}
}

// TestScheduleIsFixed: when calls begin does not depend on how long they take.
func TestScheduleIsFixed(t *testing.T) {
	var begun [2][]time.Duration
	for i, takes := range []time.Duration{0, 150 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			origin, pings := time.Now(), 3
			r, err := probe.Run(t.Context(), func(context.Context) error {
				mu.Lock()
				if pings--; pings < 0 {
					begun[i] = append(begun[i], time.Since(origin))
				} else if pings == 0 { // the step begins a pause after the last of them
					origin = time.Now().Add(takes)
				}
				mu.Unlock()
				time.Sleep(takes)
				return nil
			}, once(100))
			if err != nil || r.Capacity != 100 || !math.IsInf(r.High, 1) || len(begun[i]) != 500 {
				t.Errorf("%v, %+v", err, r)
			}
		})
	}
	if !slices.Equal(begun[0], begun[1]) || !slices.IsSorted(begun[0]) {
		t.Error("slow answers move the calls after them")
	}
}

// TestNothingIsOmitted: one stall of a second is felt by all who came during it, though
// only one call is slow by itself.
func TestNothingIsOmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		free := make(chan struct{}, 1)
		o := once(100)
		o.Goal.Quantile, o.Goal.Errors = 0.9, 0.5
		r, err := probe.Run(t.Context(), func(context.Context) error {
			free <- struct{}{}
			defer func() { <-free }()
			if calls.Add(1) == 100 {
				time.Sleep(time.Second)
			}
			return nil
		}, o)
		if err != nil || r.Steps[0].Held || r.Steps[0].Slow <= 50 || r.Steps[0].Longest < 900*time.Millisecond {
			t.Errorf("%v, %+v", err, r.Steps)
		}
	})
}

// TestBounds: time, number and calls in flight are never passed.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*probe.Options)
		stopped string
	}{
		{"time", func(o *probe.Options) { o.MaxTime = 12 * time.Second }, "the time of 12s is over"},
		{"number", func(o *probe.Options) { o.MaxCalls = 700 }, "no more calls may be made than 700"},
		{"few", func(o *probe.Options) { o.MaxCalls = 2 }, "no more calls may be made than 2"},
		{"in flight", func(o *probe.Options) { o.MaxInFlight = 7 }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var flying, most, calls atomic.Int64
				pool := workerPool(4, 10*time.Millisecond)
				o := probe.Options{Now: time.Now}
				c.change(&o)
				begin := time.Now()
				r, err := probe.Run(t.Context(), func(ctx context.Context) error {
					calls.Add(1)
					most.Store(max(most.Load(), flying.Add(1)))
					defer flying.Add(-1)
					return pool(ctx)
				}, o)
				if err != nil || r.Stopped != c.stopped || r.Calls != calls.Load() {
					t.Errorf("%v, %d calls, %+v", err, calls.Load(), r)
				}
				if o.MaxTime > 0 && time.Since(begin) > o.MaxTime || o.MaxCalls > 0 && r.Calls > o.MaxCalls || o.MaxInFlight > 0 && most.Load() > int64(o.MaxInFlight) {
					t.Errorf("%d calls, %d at a time, in %v", r.Calls, most.Load(), time.Since(begin))
				}
				if c.name == "in flight" && r.Low < 100 {
					t.Errorf("calls that have returned are still in flight: %+v", r)
				}
				if c.name == "in flight" && !slices.ContainsFunc(r.Steps, func(s probe.Step) bool { return s.Dropped > 0 && strings.Contains(s.Why, "in flight") }) {
					t.Errorf("nothing was dropped: %+v", r.Steps)
				}
			})
		})
	}
}

// TestInterrupted: what is known so far is told, and nothing is left behind (the bubble
// would not end).
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 34*time.Second)
		defer cancel()
		r, err := probe.Run(ctx, workerPool(4, 10*time.Millisecond), probe.Options{Now: time.Now})
		if !errors.Is(err, context.DeadlineExceeded) || r.Stopped != "interrupted" || r.Capacity != 0 || r.Low < 160 || r.Low > 400 || len(r.Steps) < 4 {
			t.Errorf("%v, %+v", err, r)
		}
	})
}

// TestTargetFails: it is left alone once it does not answer any more.
func TestTargetFails(t *testing.T) {
	errDown := errors.New("down")
	for _, dies := range []int64{0, 2000} {
		synctest.Test(t, func(t *testing.T) {
			var calls, after atomic.Int64
			begin := time.Now()
			r, err := probe.Run(t.Context(), func(context.Context) error {
				if calls.Add(1) > dies {
					after.Add(1)
					return errDown
				}
				return nil
			}, probe.Options{Now: time.Now})
			if !errors.Is(err, probe.ErrTargetFails) || !errors.Is(err, errDown) || !strings.Contains(r.Stopped, "down") {
				t.Errorf("%v, %+v", err, r)
			}
			if after.Load() > 200 || time.Since(begin) > time.Minute {
				t.Errorf("%d calls to something that is down, in %v", after.Load(), time.Since(begin))
			}
			if dies > 0 && r.Low < 80 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestLatencyCountsFromDue: calls that could not begin in time have waited, too.
func TestLatencyCountsFromDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		o := once(100)
		o.Now = func() time.Time { // in the middle of a step this machine stands still for a second
			if asked.Add(1) > 600 {
				return time.Now().Add(time.Second)
			}
			return time.Now()
		}
		r, err := probe.Run(t.Context(), func(context.Context) error { return nil }, o)
		if err != nil || r.Steps[0].Held || !r.Steps[0].Late || r.Steps[0].Longest < 900*time.Millisecond || !strings.Contains(r.Steps[0].Why, "too slow") {
			t.Errorf("%v %+v", err, r.Steps)
		}
	})
}

// TestHold: a rate is held so long that there are a hundred calls, but not for ever.
func TestHold(t *testing.T) {
	for rate, want := range map[float64]int{1: 20, 10: 100, 50: 250} {
		synctest.Test(t, func(t *testing.T) {
			r, err := probe.Run(t.Context(), func(context.Context) error { return nil }, once(rate))
			if err != nil || r.Steps[0].Due != want || r.Steps[0].Sent != want {
				t.Errorf("%v/s: %v %+v", rate, err, r)
			}
		})
	}
}

// TestNoKnee: everything holds, or nothing does.
func TestNoKnee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := probe.Run(t.Context(), func(context.Context) error { return nil }, probe.Options{Now: time.Now, Max: 100})
		if err != nil || r.Capacity != 100 || r.Low != 100 || !math.IsInf(r.High, 1) || r.Stopped != "" {
			t.Errorf("%v, %+v", err, r)
		}
		r, err = probe.Run(t.Context(), workerPool(1, time.Second), probe.Options{Now: time.Now})
		if err != nil || r.Capacity != 0 || r.Low != 0 || r.High > 2 || r.Stopped != "" {
			t.Errorf("%v, %+v", err, r)
		}
	})
}

// TestLateSteps: what this machine is too slow for says nothing of the target: it is tried
// again, and in the end told.
func TestLateSteps(t *testing.T) {
	for _, slow := range []int{1, 1000} { // steps in which the clock runs away
		synctest.Test(t, func(t *testing.T) {
			steps, lost := 0, time.Duration(0)
			o := once(100)
			var mu sync.Mutex
			o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return time.Now().Add(lost) }
			o.Progress = func(p probe.Progress) {
				if steps++; p.Step != nil && p.Step.Late != (steps/2 <= slow) {
					t.Errorf("step %d: %+v", steps/2, p.Step)
				}
			}
			calls := 0
			r, err := probe.Run(t.Context(), func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				if calls++; steps > 0 && (steps+1)/2 <= slow && calls%2 == 0 {
					lost += time.Second
				}
				return nil
			}, o)
			if err != nil || slow == 1 && (r.Capacity != 100 || len(r.Steps) != 2 || len(r.Curve()) != 1) {
				t.Errorf("%v, %+v", err, r)
			}
			if slow > 1 && (r.Stopped != "this machine could not make 100 calls/s on time" || r.Low != 0 || !math.IsInf(r.High, 1)) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestProgress: every step is announced and told, and is in the report.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []float64
		var told []probe.Step
		r, err := probe.Run(t.Context(), workerPool(1, 5*time.Millisecond), probe.Options{Now: time.Now, Repeats: 2, Progress: func(p probe.Progress) {
			if p.Step == nil {
				begun = append(begun, p.Rate)
			} else if told = append(told, *p.Step); p.Repeat < 1 || p.Repeat > 2 {
				t.Errorf("%+v", p)
			}
		}})
		if err != nil || len(begun) != len(r.Steps) || !slices.Equal(told, r.Steps) {
			t.Errorf("%v: %d, %d, %d", err, len(begun), len(told), len(r.Steps))
		}
		curve := r.Curve()
		if !slices.IsSortedFunc(curve, func(a, b probe.Step) int { return int(math.Copysign(1, a.Rate-b.Rate)) }) || !curve[0].Held || curve[len(curve)-1].Held {
			t.Errorf("%+v", curve)
		}
	})
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]probe.Options{
		"no clock":      {},
		"Goal.Quantile": {Goal: probe.Goal{Quantile: 1}},
		"Goal.Latency":  {Goal: probe.Goal{Latency: -1}},
		"Goal.Errors":   {Goal: probe.Goal{Errors: math.NaN()}},
		"Start":         {Start: -1},
		"Max":           {Max: math.Inf(1)},
		"Precision":     {Precision: 1},
		"Repeats":       {Repeats: -1},
		"Hold":          {Hold: -1},
		"Timeout":       {Timeout: -1},
		"MaxTime":       {MaxTime: -1},
		"MaxCalls":      {MaxCalls: -1},
		"MaxInFlight":   {MaxInFlight: -1},
		"Recovery":      {Recovery: -1},
	} {
		if want != "no clock" {
			o.Now = time.Now
		}
		if r, err := probe.Run(t.Context(), workerPool(1, 1), o); r != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := probe.Run(t.Context(), nil, probe.Options{Now: time.Now}); err == nil || !strings.Contains(err.Error(), "no target") {
		t.Error(err)
	}
}
