package sqllimit

import (
	"context"
	"sync/atomic"

	"github.com/sluice-limiter/sluice"
)

// lane is where statements wait for the rate, first come first served and with
// nothing in their hands. The first has the turn: it alone asks.
//
// When there is enough again, and asking takes time, one at a time would hold up all:
// so more get the turn whenever one is admitted that was not denied, and one again
// after a denial.
type lane struct {
	turns  *sluice.Concurrency
	remote bool
	crowd  atomic.Int64           // who has the turn or waits for it
	owed   atomic.Int64           // what all of these cost together
	denial atomic.Pointer[denial] // why they wait; nil if it is for a permit
}

// denial is the last that one with the turn got.
type denial struct {
	err  *sluice.LimitedError
	cost int64
}

// mostTurns is how many have the turn at the same time at most.
const mostTurns = 1 << 16

func (l *lane) open(remote bool) { l.turns, l.remote = sluice.NewConcurrency(1), remote }

// busy reports whether somebody waits.
func (l *lane) busy() bool { return l.crowd.Load() > 0 }

// enter returns when it is the caller's turn. It tells whether that took time.
func (l *lane) enter(ctx context.Context, cost int64) (turn *sluice.Permit, waited bool, err error) {
	l.crowd.Add(1)
	l.owed.Add(cost)
	if turn, ok := l.turns.Allow(); ok {
		return turn, false, nil
	}
	turn, err = l.turns.Wait(ctx)
	if err != nil {
		l.part(cost)
	}
	return turn, true, err
}

// leave gives the turn to the next.
func (l *lane) leave(turn *sluice.Permit, cost int64) {
	turn.Release()
	l.part(cost)
}

func (l *lane) part(cost int64) {
	l.owed.Add(-cost)
	l.crowd.Add(-1)
}

// widen is for one with the turn that was admitted without a denial.
func (l *lane) widen() { _ = l.turns.SetLimit(min(2*l.turns.Limit(), mostTurns)) }

// narrow is for one that the rate denied.
func (l *lane) narrow(d *denial) {
	l.denial.Store(d)
	if l.turns.Limit() > 1 {
		_ = l.turns.SetLimit(1)
	}
}
