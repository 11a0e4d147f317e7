package sqllimit

import (
	"fmt"
	"math"
	"time"

	"github.com/sluice-limiter/sluice"
)

// DefaultMaxWait is how long a statement waits if [WithMaxWait] does not say
// otherwise. It has an end so that callers without a deadline cannot wait for
// each other for ever.
const DefaultMaxWait = 10 * time.Second

// Option sets up a guard. An option may be given several times: a statement has
// to pass all limits.
type Option interface{ apply(*guard) }

type option func(*guard)

func (o option) apply(g *guard) { o(g) }

// WithInFlight admits n at the same time, from this process. Every [Wrap] that gets
// the option has n of its own; see [WithConcurrency] to share them. It panics if n is
// below 1.
func WithInFlight(n int64) Option {
	sluice.NewConcurrency(n) // panics here, where the number stands
	return option(func(g *guard) { g.flights = append(g.flights, localFlight{sluice.NewConcurrency(n)}) })
}

// WithConcurrency admits at the same time what c admits: to share it between
// several databases, to watch it or to change it.
func WithConcurrency(c *sluice.Concurrency) Option {
	mustHave("WithConcurrency", c != nil)
	return option(func(g *guard) { g.flights = append(g.flights, localFlight{c}) })
}

// WithKeyedConcurrency admits at the same time what c admits for key, which
// names the database: together with all processes that share the store of c.
func WithKeyedConcurrency(c *sluice.KeyedConcurrency, key string) Option {
	mustHave("WithKeyedConcurrency", c != nil && key != "")
	return option(func(g *guard) { g.flights, g.remote = append(g.flights, keyedFlight{c, key}), true })
}

// WithLimit admits statements as limit says, from this process. Every [Wrap] that
// gets the option has a rate of its own; see [WithLimiter] to share it. It panics if
// the limit is invalid.
func WithLimit(limit sluice.Limit) Option {
	sluice.NewLimiter(limit) // panics here, where the limit stands
	return option(func(g *guard) { g.rates = append(g.rates, localRate{sluice.NewLimiter(limit)}) })
}

// WithLimiter admits statements as l says: to share it between several
// databases, to watch it or to change it.
func WithLimiter(l *sluice.Limiter) Option {
	mustHave("WithLimiter", l != nil)
	return option(func(g *guard) { g.rates = append(g.rates, localRate{l}) })
}

// WithKeyed admits statements as k says for key, which names the database:
// together with all processes that share the store of k.
func WithKeyed(k *sluice.Keyed, key string) Option {
	mustHave("WithKeyed", k != nil && key != "")
	return option(func(g *guard) { g.rates, g.remote = append(g.rates, keyedRate{k, key}), true })
}

// WithMaxWait lets a statement wait for d at most, for all limits together, and
// less if its context ends before. With 0 or less it does not wait but fails at
// once; a store that a limit has to ask gets a quarter of a second to answer.
func WithMaxWait(d time.Duration) Option {
	return option(func(g *guard) { g.maxWait = d })
}

// WithClassifier replaces [Classify]. It is called for every statement, so it
// should be fast. A text of several statements costs what its one class costs.
func WithClassifier(classify func(query string) Class) Option {
	mustHave("WithClassifier", classify != nil)
	return option(func(g *guard) {
		g.weigh = func(query string) weight { return weight{class: classify(query)} }
	})
}

// WithCost says what a statement of the class takes from the rate. A cost of 0
// takes nothing, but a permit is needed still; a statement of the class [Free]
// needs neither, and a cost for it is refused. It panics if the cost is below 0
// or above 2147483647.
func WithCost(class Class, cost int64) Option {
	if class == Free || cost < 0 || cost > math.MaxInt32 {
		panic(fmt.Sprintf("sqllimit: WithCost(%v, %d): the class must not be free, the cost 0 to %d", class, cost, math.MaxInt32))
	}
	return option(func(g *guard) { g.costs[class] = cost })
}

func mustHave(name string, ok bool) {
	if !ok {
		panic("sqllimit: " + name + ": nil or an empty key: nothing to limit with")
	}
}
