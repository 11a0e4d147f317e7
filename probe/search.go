package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// ErrTargetFails is what Run returns when the target does not answer, or not any more.
var ErrTargetFails = errors.New("the target does not answer")

// errUsedUp ends a search that has made all calls that it may.
var errUsedUp = errors.New("no more calls may be made")

func (o *Options) usedUp() error { return fmt.Errorf("%w than %d", errUsedUp, o.MaxCalls) }

// Run finds the capacity of a target. The report tells what is known, also when the
// context ends the search or the target fails, which is an error; that a bound of the
// options was reached is none. It is nil only if the options make no sense. All calls
// have returned when Run does.
func Run(ctx context.Context, do Target, o Options) (*Report, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	if do == nil {
		return nil, errors.New("probe: no target: give a function to call")
	}
	inTime, cancel := context.WithTimeoutCause(ctx, o.MaxTime, fmt.Errorf("the time of %v is over", o.MaxTime))
	defer cancel()
	s := &search{loader: &loader{do: do, o: &o, random: rand.New(rand.NewPCG(o.Seed, 0x5eed))}, o: &o, report: &Report{Goal: o.Goal}}
	err = s.run(inTime)
	r := s.report
	r.Calls = s.loader.calls
	r.conclude(o.Max)
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		r.Stopped = "interrupted"
		return r, ctx.Err()
	case errors.Is(err, ErrTargetFails):
		r.Stopped = err.Error()
		return r, fmt.Errorf("probe: %w", err)
	}
	r.Stopped = err.Error()
	return r, nil
}

// search looks for the knee: the rate that does not hold any more.
type search struct {
	loader *loader
	o      *Options
	report *Report
	repeat int
}

// run looks for the knee again and again: first from the start on in steps of two, then
// from where it was last time in small ones.
func (s *search) run(ctx context.Context) error {
	if err := s.recover(ctx); err != nil {
		return err
	}
	from, factor := s.o.Start, 2.0
	for s.repeat = 1; s.repeat <= s.o.Repeats; s.repeat++ {
		k, err := s.knee(ctx, from, factor)
		if err != nil {
			return err
		}
		s.report.Knees = append(s.report.Knees, k)
		if k.Held == 0 || math.IsInf(k.Broke, 1) { // there is none between the bounds
			return nil
		}
		// A little beside it, so that the repeats do not try the same rates.
		factor = 1 + s.o.Precision
		from = min(k.middle()*math.Pow(factor, s.loader.random.Float64()-0.5), s.o.Max)
	}
	return nil
}

// knee finds two rates close to each other, one that holds and one that does not.
func (s *search) knee(ctx context.Context, from, factor float64) (Knee, error) {
	k := Knee{Held: 0, Broke: math.Inf(1)}
	for rate := from; ; factor = min(factor*factor, 2) { // away from where it begins, faster and faster
		held, err := s.try(ctx, rate)
		if err != nil {
			return k, err
		}
		if held {
			k.Held = rate
			rate = min(rate*factor, s.o.Max)
		} else {
			k.Broke = rate
			rate /= factor
		}
		between := k.Held > 0 && !math.IsInf(k.Broke, 1)
		if between || k.Held >= s.o.Max || rate < s.o.Start/8 {
			break
		}
	}
	for k.Held > 0 && !math.IsInf(k.Broke, 1) && k.Broke/k.Held > 1+1.0001*s.o.Precision {
		middle := k.middle()
		held, err := s.try(ctx, middle)
		if err != nil {
			return k, err
		}
		if held {
			k.Held = middle
		} else {
			k.Broke = middle
		}
	}
	return k, nil
}

// maxLate is how many times in a row this machine may be too slow for a step before the
// search ends.
const maxLate = 3

// try finds out whether a rate holds, if there is time and number left for it. A step for
// which this machine was too slow is made again.
func (s *search) try(ctx context.Context, rate float64) (bool, error) {
	for range maxLate {
		step, err := s.step(ctx, rate)
		if err != nil || step.Held {
			return step.Held, err
		}
		if err := s.recover(ctx); err != nil || !step.Late {
			return false, err
		}
	}
	return false, fmt.Errorf("this machine could not make %.4g calls/s on time", rate)
}

func (s *search) step(ctx context.Context, rate float64) (Step, error) {
	if n := callsOf(rate, s.o.holdFor(rate)); s.loader.calls+n > s.o.MaxCalls {
		return Step{}, s.o.usedUp()
	}
	s.tell(Progress{Repeat: s.repeat, Rate: rate})
	step := s.loader.step(ctx, rate)
	if ctx.Err() != nil {
		return Step{}, context.Cause(ctx)
	}
	s.report.Steps = append(s.report.Steps, step)
	s.tell(Progress{Repeat: s.repeat, Rate: rate, Step: &step})
	return step, nil
}

func (s *search) tell(p Progress) {
	if s.o.Progress != nil {
		s.o.Progress(p)
	}
}

// recover waits until the target answers, as it should before a step.
func (s *search) recover(ctx context.Context) error {
	err := s.loader.answers(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errUsedUp):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrTargetFails, err)
	}
	return nil
}
