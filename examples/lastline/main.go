// Lastline has two limits in one rule: one for the whole fleet, kept in a store
// that all share, and one of each instance's own as the last line of defence. The
// second is asked first, needs no network, and holds also when the store is down.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

var rules = rule.Config{Rules: []rule.Rule{{
	Name: "api",
	Limits: []rule.Limit{
		{Name: "fleet", Limit: sluice.PerSecond(100)},
		{Name: "instance", Limit: sluice.PerSecond(60), Scope: rule.Instance},
	},
	OnStoreError: rule.ErrorAllow,
}}}

// shared stands for Redis: see docs/REDIS.md for the real one.
type shared struct {
	store.Store
	down bool
}

// Take implements [store.Store].
func (s *shared) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	if s.down {
		return errors.New("connection refused")
	}
	return s.Store.Take(ctx, op, checks)
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	set, err := rule.Compile(rules)
	if err != nil {
		return err
	}
	redis := &shared{Store: memstore.New()}
	for _, name := range []string{"first instance", "second instance", "third instance, the store is down"} {
		e, err := engine.New(set, redis)
		if err != nil {
			return err
		}
		redis.down = name == "third instance, the store is down"
		if err := burst(e, out, name); err != nil {
			return err
		}
		if err := e.Close(); err != nil {
			return err
		}
	}
	return nil
}

func burst(e *engine.Engine, out io.Writer, name string) error {
	allowed, by := 0, ""
	for range 1000 {
		d, err := e.Check(context.Background(), engine.Request{Method: "GET", Path: "/"})
		if err != nil {
			return err
		}
		if d.Allowed {
			allowed++
		} else {
			by = d.LimitName
		}
	}
	fmt.Fprintf(out, "%s: %d of 1000 allowed, the others refused by the limit %q\n", name, allowed, by)
	return nil
}
