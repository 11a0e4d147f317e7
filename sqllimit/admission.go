package sqllimit

import (
	"context"
	"errors"
	"time"

	"github.com/sluice-limiter/sluice"
)

// admission is how one statement gets in that may have to wait.
type admission struct {
	*guard
	patience
	class  Class
	cost   int64
	flying bool
	lane   *lane

	turn   *sluice.Permit // in the lane, or nil
	denied bool           // by the rate, since it has the turn
	lacked bool           // a permit was not free at once
	held   ticket
	paid   int // of how many rates the cost is spent
}

// Between two questions of the same statement to a store.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 32 * time.Millisecond
)

func (g *guard) wait(ctx context.Context, class Class, cost int64, flying bool) (ticket, error) {
	a := &admission{guard: g, class: class, cost: cost, flying: flying, lane: g.lane(flying)}
	a.parent, a.max, a.held.guard = ctx, g.maxWait, g
	defer a.leave()
	if err := a.run(); err != nil {
		return ticket{}, err
	}
	t := a.held
	t.cost = cost
	a.held, a.paid = ticket{}, 0
	return t, nil
}

// run returns with everything in hand, or an error.
func (a *admission) run() error {
	if a.cost > 0 && a.lane.busy() {
		if _, err := a.queue(); err != nil {
			return err
		}
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if err := a.board(); err != nil {
			return a.refusal(a.class, true, err)
		}
		err := a.pay()
		if err == nil {
			return nil
		}
		a.drop()
		var limited *sluice.LimitedError
		if !errors.As(err, &limited) || a.hopeless(limited.Decision) {
			return a.refusal(a.class, false, err)
		}
		a.lane.narrow(&denial{limited, a.cost})
		if a.turn == nil {
			waited, err := a.queue()
			if err != nil {
				return err
			}
			if waited { // what it was told is old
				continue
			}
		}
		a.denied = true
		retry := max(limited.Decision.RetryAfter(), time.Microsecond)
		if a.remote { // others ask at the same time
			retry = max(retry, pause)
		}
		if err := sleep(a.bounded(), retry); err != nil {
			return a.refusal(a.class, false, err)
		}
	}
}

// queue waits for the turn, unless it is known to come too late.
func (a *admission) queue() (waited bool, err error) {
	last := a.lane.denial.Load()
	if last != nil && a.lane.busy() {
		for _, r := range a.rates {
			if r.soonest(a.lane.owed.Load()+a.cost, last.cost) > a.left()+longestPause { // meanwhile some came back
				return false, a.refusal(a.class, false, last.err)
			}
		}
	}
	a.turn, waited, err = a.lane.enter(a.bounded(), a.cost)
	if err != nil {
		err = a.refusal(a.class, a.lane.denial.Load() == nil, err)
	}
	return waited, err
}

// board takes a permit of all limits in flight.
func (a *admission) board() error {
	if !a.flying {
		return nil
	}
	for _, f := range a.flights {
		got := f.try()
		if got == nil {
			a.lacked = true
			if a.turn != nil {
				a.lane.denial.Store(nil)
			}
			var err error
			if got, err = f.acquire(&a.patience); err != nil {
				return err
			}
		}
		a.held.add(got)
	}
	return nil
}

// pay spends the cost at all rates.
func (a *admission) pay() error {
	if a.cost == 0 {
		return nil
	}
	for _, r := range a.rates {
		if err := r.take(&a.patience, a.cost); err != nil {
			return err
		}
		a.paid++
	}
	return nil
}

// hopeless reports whether the denial will outlast the patience.
func (a *admission) hopeless(d sluice.Decision) bool {
	return a.none() || d.Reason != sluice.Limited || d.RetryAfter() > a.left()
}

// drop gives back what it has.
func (a *admission) drop() {
	a.held.release()
	paid := a.paid
	a.paid = 0
	a.refund(paid, a.cost)
}

// leave ends it, also when a limit panics: what was not handed on is given back.
func (a *admission) leave() {
	admitted := a.held.guard == nil
	a.drop()
	if a.turn != nil {
		if admitted && !a.denied && (a.remote || a.lacked) {
			a.lane.widen()
		}
		a.lane.leave(a.turn, a.cost)
	}
	a.end()
}

// sleep waits for d or for the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
