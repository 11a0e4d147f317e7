package sluiceprometheus_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-limiter/sluice"
	sluiceprometheus "github.com/sluice-limiter/sluice/contrib/prometheus"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// The functions that follow are the README's pieces of code.

func readmeObserver(set *rule.Set, store store.Store) (*engine.Engine, *sluiceprometheus.Observer, error) {
	metrics := sluiceprometheus.New()
	prometheus.MustRegister(metrics)
	e, err := engine.New(set, store, engine.WithObserver(metrics))
	return e, metrics, err
}

func readmeSwap(e *engine.Engine, metrics *sluiceprometheus.Observer, set *rule.Set) {
	if err := e.Swap(set); err == nil {
		metrics.Keep(set)
	}
}

func TestReadme(t *testing.T) {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "api", Limits: []rule.Limit{{Limit: sluice.PerHour(2)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	e, metrics, err := readmeObserver(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer prometheus.Unregister(metrics)
	readmeSwap(e, metrics, set)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
