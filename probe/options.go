package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Target is one call of the service whose capacity is looked for. It has to return when
// its context ends.
type Target func(ctx context.Context) error

// Goal says when a rate is held: that share of calls is answered within Latency, and no
// more than the share Errors fails.
type Goal struct {
	Quantile float64       // such as 0.99, which is also what 0 means
	Latency  time.Duration // 0 means 200 ms
	Errors   float64       // share of calls that may fail; 0 means 0.01
}

// Options set up Run. Zeros mean what the comments say.
type Options struct {
	Now  func() time.Time // the clock: time.Now
	Goal Goal

	Start     float64 // calls per second of the first step; 0 means 10
	Max       float64 // never more than that; 0 means 100,000
	Precision float64 // how close the search comes to the knee; 0 means 0.05, which is 5 %
	Repeats   int     // how many times the knee is looked for; 0 means 5

	// Hold is how long a rate is tried; 0 means 25 times the latency of the goal. A queue
	// that grows by 4 % of the rate passes the goal in that time: shorter is less exact.
	Hold time.Duration

	Timeout     time.Duration // of one call; 0 means 10 times the latency of the goal, a second at least
	MaxTime     time.Duration // of everything; 0 means 5 minutes
	MaxCalls    int64         // in all; 0 means 1,000,000
	MaxInFlight int           // calls beyond are not made, and count as failed; 0 means 1,000
	Recovery    time.Duration // how long the target may take to answer again after a step; 0 means 10 s

	Seed     uint64         // of the instants at which calls are made
	Progress func(Progress) // is told when a step begins and ends; may be nil
}

// Progress tells how far the search is.
type Progress struct {
	Repeat int // from 1
	Rate   float64
	Step   *Step // nil when the step begins
}

// minCalls is how many calls a step makes at least, if that does not make it too long: of
// fewer no percentile can be told.
const minCalls = 100

func (o Options) filled() (Options, error) {
	if o.Now == nil {
		return o, errors.New("probe: no clock: set Options.Now to time.Now")
	}
	fill(&o.Goal.Quantile, 0.99)
	fill(&o.Goal.Latency, 200*time.Millisecond)
	fill(&o.Goal.Errors, 0.01)
	fill(&o.Start, 10)
	fill(&o.Max, 100_000)
	fill(&o.Precision, 0.05)
	fill(&o.Repeats, 5)
	fill(&o.Hold, 25*o.Goal.Latency)
	fill(&o.Timeout, max(10*o.Goal.Latency, time.Second))
	fill(&o.MaxTime, 5*time.Minute)
	fill(&o.MaxCalls, 1_000_000)
	fill(&o.MaxInFlight, 1000)
	fill(&o.Recovery, 10*time.Second)
	return o, o.check()
}

func fill[T float64 | int | int64 | time.Duration](field *T, usual T) {
	if *field == 0 {
		*field = usual
	}
}

func (o *Options) check() error {
	for _, c := range []struct {
		bad  bool
		what string
		got  any
		want string
	}{
		{!(o.Goal.Quantile >= 0.5 && o.Goal.Quantile < 1), "Goal.Quantile", o.Goal.Quantile, "from 0.5 to below 1, such as 0.99"},
		{o.Goal.Latency < 0, "Goal.Latency", o.Goal.Latency, "above 0"},
		{!(o.Goal.Errors > 0 && o.Goal.Errors < 1), "Goal.Errors", o.Goal.Errors, "between 0 and 1, such as 0.01"},
		{!(o.Start > 0) || math.IsInf(o.Start, 0), "Start", o.Start, "above 0"},
		{!(o.Max >= o.Start) || math.IsInf(o.Max, 0), "Max", o.Max, "a number not below Start"},
		{!(o.Precision >= 0.001 && o.Precision <= 0.5), "Precision", o.Precision, "from 0.001 to 0.5"},
		{o.Repeats < 0, "Repeats", o.Repeats, "1 or more"},
		{o.Hold < 0, "Hold", o.Hold, "above 0"},
		{o.Timeout < 0, "Timeout", o.Timeout, "above 0"},
		{o.MaxTime < 0, "MaxTime", o.MaxTime, "above 0"},
		{o.MaxCalls < 0, "MaxCalls", o.MaxCalls, "1 or more"},
		{o.MaxInFlight < 0, "MaxInFlight", o.MaxInFlight, "1 or more"},
		{o.Recovery < 0, "Recovery", o.Recovery, "above 0"},
	} {
		if c.bad {
			return fmt.Errorf("probe: Options.%s is %v: give a value %s", c.what, c.got, c.want)
		}
	}
	return nil
}
