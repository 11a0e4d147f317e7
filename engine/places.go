package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// The scopes, as rule.Limit.Place numbers them: those of rates, and then of permits.
const (
	cluster = iota
	instance
	divided
	clusterPermits
	instancePermits
	scopes

	rates = divided + 1 // how many scopes there are without permits
)

// order is how stores are asked: for permits first, since these can be given back
// exactly, and what is in this process before the rest.
var order = [scopes]int{instancePermits, clusterPermits, instance, divided, cluster}

// places are where budgets are kept.
type places struct {
	own    [scopes]store.Store // by scope; the cluster's is nil if it is remote
	near   *memstore.Store     // the cluster's, if it is not
	remote [3]*failover.Store  // by failover.Policy
	opened *failover.Store     // to be closed
	memory []*memstore.Store   // all that the engine made for itself
}

// open sets up the stores. main is the one that was given.
func (e *Engine) open(main store.Store) error {
	mem, inProcess := main.(*memstore.Store)
	if inProcess && e.source == nil {
		e.source = mem.Now
	}
	if main == nil {
		mem, inProcess = e.memory(), true
	}
	p := &e.places
	p.own[instance] = e.memory()
	p.own[instancePermits] = p.own[instance]
	if e.instance != nil {
		p.own[divided] = e.share()
	}
	if inProcess {
		p.own[cluster], p.own[clusterPermits], p.near, e.now = mem, mem, mem, mem.Now
		return nil
	}
	if e.now = e.source; e.now == nil {
		e.now = func() time.Time { return time.UnixMicro(e.real.Wall(e.real.Now())) }
	}
	fail, ok := main.(*failover.Store)
	if !ok {
		var err error
		if fail, err = e.wrap(main); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		p.opened = fail
	}
	for _, policy := range []failover.Policy{failover.Local, failover.Allow, failover.Deny} {
		p.remote[policy] = fail.WithPolicy(policy)
	}
	return nil
}

// wrap has this instance's share decide when main does not.
func (e *Engine) wrap(main store.Store) (*failover.Store, error) {
	opts := []failover.Option{failover.WithLogger(e.logger)}
	if s, ok := main.(pinger); ok {
		opts = append(opts, failover.Probe(s.Ping))
	}
	return failover.New(main, e.share(), opts...)
}

// pinger is a store that knows how to find out whether it is well, such as redisstore's.
type pinger interface {
	Ping(ctx context.Context) error
}

// clock returns the engine's own: that of WithClock or of a given memstore, else the
// machine's.
func (e *Engine) clock() *clock.Clock {
	if e.source != nil {
		return clock.Func(e.source)
	}
	return e.real
}

// memory returns a store in this process.
func (e *Engine) memory() *memstore.Store {
	opts := []memstore.Option{memstore.WithLogger(e.logger)}
	if e.source != nil {
		opts = append(opts, memstore.WithClock(e.source))
	}
	if e.maxMemory > 0 {
		opts = append(opts, memstore.MaxBytes(e.maxMemory))
	}
	mem := memstore.New(opts...)
	e.places.memory = append(e.places.memory, mem)
	return mem
}

// share returns a store in this process that has this instance's share of limits, or
// all of them if nobody knows of other instances.
func (e *Engine) share() store.Store {
	if e.instance == nil {
		return e.memory()
	}
	opts := []split.Option{split.WithLogger(e.logger)}
	if e.source != nil {
		opts = append(opts, split.WithClock(e.source))
	}
	return split.New(e.memory(), e.instance, opts...)
}

func (p *places) close() error {
	if p.opened == nil {
		return nil
	}
	return p.opened.Close()
}

// far reports whether checks of a scope leave this process, so that somebody may
// still hold their keys when the call is over.
func (p *places) far(scope int) bool { return p.own[scope] == nil }

// down reports whether the remote store is not asked at present.
func (p *places) down() bool { return p.remote[failover.Local].Stats().Open }

// take asks the store of a scope.
func (p *places) take(ctx context.Context, scope int, op store.Op, checks []store.Check, policies []failover.Policy) error {
	if s := p.own[scope]; s != nil {
		return s.Take(ctx, op, checks)
	}
	for _, policy := range policies[1:] {
		if policy != policies[0] {
			return p.remote[failover.Local].TakeEach(ctx, op, checks, policies)
		}
	}
	return p.remote[policies[0]].Take(ctx, op, checks)
}

// calls returns how many calls the checks of the cluster's store take.
func (p *places) calls(checks []store.Check) int {
	switch {
	case len(checks) == 0:
		return 0
	case p.far(cluster):
		return store.Calls(p.remote[failover.Local], checks)
	}
	return 1
}

// policyOf says what decides instead of a remote store.
func policyOf(r *rule.Compiled) failover.Policy {
	switch r.OnStoreError {
	case rule.ErrorAllow:
		return failover.Allow
	case rule.ErrorDeny:
		return failover.Deny
	}
	return failover.Local
}
