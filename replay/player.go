package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// MaxBytes is how much memory the budgets of a Player may take: so much that no key is
// forgotten, for decisions have to be those of a limiter that has enough.
const MaxBytes = 8 << 30

// Player decides requests at times of its caller's choice, by the engine that enforces
// rules. It is for one goroutine.
type Player struct {
	engine *engine.Engine
	store  *memstore.Store
	now    int64
}

// ErrConcurrency means that a rule cannot be replayed.
var ErrConcurrency = errors.New("it has a limit of concurrency, and the past tells when requests came, not for how long they ran (turn the rule off in a copy of the file, with mode: off)")

// NewPlayer returns a player with fresh budgets whose clock stands at start, in µs since
// 1970. Observers are told of every decision, as those of any engine. Rules with limits of
// concurrency are refused with [ErrConcurrency].
func NewPlayer(set *rule.Set, start int64, observers ...engine.Observer) (*Player, error) {
	if set == nil {
		return nil, errors.New("replay: no rules: give a rule.Set")
	}
	for _, c := range set.Rules() {
		if c.Mode != rule.Off && c.HasConcurrency() {
			return nil, fmt.Errorf("replay: rule %q: %w", c.Name, ErrConcurrency)
		}
	}
	p := &Player{now: start}
	clock := func() time.Time { return time.UnixMicro(p.now) }
	p.store = memstore.New(memstore.WithClock(clock), memstore.MaxBytes(MaxBytes))
	opts := []engine.Option{engine.WithInstance(alone{}), engine.WithClock(clock)}
	if !hasOwnStores(set) {
		// Then the engine needs the clock for its top keys alone, which it counts anew every
		// minute, at a cost: minutes fly here, and nobody asks for them.
		opts = append(opts, engine.WithClock(func() time.Time { return time.UnixMicro(start) }))
	}
	for _, o := range observers {
		opts = append(opts, engine.WithObserver(o))
	}
	e, err := engine.New(set.Fresh(time.UnixMicro(start)), p.store, opts...)
	if err != nil {
		return nil, err
	}
	p.engine = e
	return p, nil
}

// hasOwnStores reports whether budgets lie outside the store of the cluster.
func hasOwnStores(set *rule.Set) bool {
	elsewhere := func(limits []rule.Limit) bool {
		return slices.ContainsFunc(limits, func(l rule.Limit) bool { return l.Scope.Index() != 0 })
	}
	return slices.ContainsFunc(set.Rules(), func(c *rule.Compiled) bool {
		return c.Scope.Index() != 0 || elsewhere(c.Limits) || elsewhere(c.Candidate) ||
			slices.ContainsFunc(c.Overrides, func(o rule.Override) bool { return elsewhere(o.Limits) })
	})
}

// Decide decides r at an instant in µs since 1970, which is not before that of the last
// request: the clock never goes back.
func (p *Player) Decide(at int64, r *rule.Request) (engine.Decision, error) {
	p.now = max(p.now, at)
	return p.engine.Check(context.Background(), *r)
}

// Now returns where the clock stands, in µs since 1970.
func (p *Player) Now() int64 { return p.now }

// Memory tells what the budgets of all keys take.
func (p *Player) Memory() memstore.Stats { return p.store.Stats() }

// Close ends what the engine does in the background.
func (p *Player) Close() error { return p.engine.Close() }

// alone is the only instance: limits that are split are whole.
type alone struct{}

func (alone) Share() (rank, live int) { return 0, 1 }
