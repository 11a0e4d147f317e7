package sluiceotel_test

import (
	"context"
	"log"
	"testing"

	"go.opentelemetry.io/otel"

	"github.com/sluice-limiter/sluice"
	sluiceotel "github.com/sluice-limiter/sluice/contrib/otel"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

// The functions that follow are the README's pieces of code.

func readmeObserver(set *rule.Set, store store.Store, use func(*engine.Engine)) error {
	metrics, err := sluiceotel.New(otel.Meter("sluice"))
	if err != nil {
		log.Fatal(err)
	}
	defer metrics.Close()
	e, err := engine.New(set, store, engine.WithObserver(metrics))
	if err == nil {
		use(e)
	}
	return err
}

func readmeAnnotate(ctx context.Context, e *engine.Engine, request engine.Request) error {
	d, err := e.Check(ctx, request)
	sluiceotel.Annotate(ctx, d)
	return err
}

func TestReadme(t *testing.T) {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "api", Limits: []rule.Limit{{Limit: sluice.PerHour(2)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	err = readmeObserver(set, nil, func(e *engine.Engine) {
		if err := readmeAnnotate(t.Context(), e, engine.Request{Path: "/"}); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
