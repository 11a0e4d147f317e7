// Package api is the HTTP door: JSON in, engine.Check, JSON out. Wire types end here.
package api

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/audit"
)

// Backend is what the handlers ask.
type Backend interface {
	Engine() *engine.Engine
	// Rules returns what is in force.
	Rules() (rule.Config, Version)
	// Validate reports what is wrong with the text of a rule file, as rulefile.Problems.
	Validate(ctx context.Context, yaml []byte) error
	// Reload reads the rules again. source says who asked, for the audit log.
	Reload(ctx context.Context, source string) (Change, error)
	// Rollback puts the rules in force again that were before the last change; ErrNoPrevious
	// if nothing has changed yet.
	Rollback(ctx context.Context, source string) (Change, error)
	// ShadowAll turns every rule to shadow, or back.
	ShadowAll(ctx context.Context, on bool, source string)
	// Preview tells what these limits would have done to the last requests of a rule, or
	// those in force if there are none.
	Preview(ctx context.Context, rule string, limits []sluice.Limit) (Preview, error)
	// Record returns the last requests that a rule decided, in the order of time.
	Record(rule string) (iter.Seq[Recorded], error)
	// Note remembers in the audit log that the budgets of a request were reset or refunded,
	// or why that failed.
	Note(source, action string, r engine.Request, failed error)
	// Audit returns the last n changes, newest first.
	Audit(n int) []audit.Entry
	// Subscribe returns changes as they happen, until the function is called.
	Subscribe() (<-chan audit.Entry, func())
	// Ready is nil if requests can be decided.
	Ready() error
}

// ErrNoPrevious means that there is nothing to go back to.
var ErrNoPrevious = errors.New("the rules have not changed since the server started")

// Version tells rule sets apart.
type Version struct {
	Hash   string    `json:"hash"`
	Loaded time.Time `json:"loaded"`
	Source string    `json:"source"` // the file or folder; "built-in" for the sample
}

// Change is what a reload did.
type Change struct {
	Before, After Version
	Lines         []string // in words: "rule login: 5/m → 10/m"; empty if nothing changed
}
