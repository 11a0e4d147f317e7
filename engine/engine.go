// Package engine runs a rule.Set: it finds the rules that a request matches, takes
// all their limits in one call of the store, and answers with one Decision. Every
// door, the replay and the simulator run on it.
//
// # What a request spends
//
// A request has to pass every limit of every rule that it matches, and one that is
// denied spends nothing anywhere. Limits of the fleet are taken in one call of the
// store. Limits of this instance (the scopes instance and split) are taken before,
// and given back if a later one denies.
//
// Rules in shadow, candidates, and everything under [Engine.ShadowAll] go along in
// the same call. Each such limit is charged if all enforced ones and it itself allow;
// none of them ever changes what happens to a request.
package engine

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/split"
)

// Request is what rules look at.
type Request = rule.Request

// Engine decides requests by rules. It is safe for concurrent use.
type Engine struct {
	state  atomic.Pointer[state]
	mu     sync.Mutex  // one change of state at a time
	shadow atomic.Bool // every rule is turned to shadow

	places    places
	maxMemory int64 // of each store that the engine makes; 0: as memstore has it
	instance  split.Instance
	source    func() time.Time // of WithClock
	now       func() time.Time // by the clock of the cluster's store: for calendars
	observers []Observer
	watch     *watch
	logger    *slog.Logger
	warned    warned
	calls     sync.Pool // of *call

	real  *clock.Clock // for waiting, which always takes real time
	room  room
	lines lines

	permits keeper
	owners  owners
}

// New returns an engine that keeps the budgets of cluster limits in s; nil means in
// this process. A store that is remote gets a deadline, a breaker and the policy of
// each rule for when it is down (a *failover.Store is taken as it is). The error
// says that the set needs something that is not given: see [WithInstance].
func New(set *rule.Set, s store.Store, opts ...Option) (*Engine, error) {
	e := &Engine{real: clock.System()}
	e.room.init(DefaultMaxWaiters)
	for _, o := range opts {
		o(e)
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	st, err := e.newState(set)
	if err != nil {
		return nil, err
	}
	if err := e.open(s); err != nil {
		return nil, err
	}
	e.lines.remote = e.places.far(cluster)
	e.calls.New = newCall
	e.permits.engine, e.owners.prefix = e, rand.Text()
	e.state.Store(st)
	e.watch = newWatch(set.Rules(), e.clock())
	return e, nil
}

// Close ends what the engine does in the background. It does not close the store
// that it was given. Permits that are held at that time are not renewed any more.
func (e *Engine) Close() error {
	e.permits.close()
	return e.places.close()
}

// Check decides r. A denial is no error: an error means that it could not be decided
// and no policy says what then, or that the request itself is at fault.
//
// Check never blocks on a limit. If a rule lets requests wait and its limits book the
// future, an allowed request has to be held for [Decision.Wait]; if they do not, the
// denial says with Waits that asking again may help. [Engine.Wait] does both.
//
// Of limits of concurrency it only looks whether a permit is free, and takes none: who
// can say when the request is over uses [Engine.Enter].
func (e *Engine) Check(ctx context.Context, r Request) (d Decision, err error) {
	c := e.begin(&r)
	c.match(e)
	if !e.decidePlain(ctx, c) {
		e.decide(ctx, c, &everyday)
	}
	err = e.finish(c, &d)
	return d, err
}
