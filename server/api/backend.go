// Package api is the HTTP door: JSON in, engine.Check, JSON out. Wire types end here.
package api

import (
	"context"
	"time"

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
	// ShadowAll turns every rule to shadow, or back.
	ShadowAll(ctx context.Context, on bool, source string)
	// Audit returns the last n changes, newest first.
	Audit(n int) []audit.Entry
	// Subscribe returns changes as they happen, until the function is called.
	Subscribe() (<-chan audit.Entry, func())
	// Ready is nil if requests can be decided.
	Ready() error
}

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
