package config

import (
	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
)

// NobodyHolds is what is wrong with a limit of concurrency at a server without a gateway:
// its other doors answer questions about requests, and never learn when these are over.
const (
	NobodyHolds     = "nobody here holds requests: without a gateway the server only answers questions about them, and never learns when they are over"
	nobodyHoldsHint = "run it with a gateway (docs/GATEWAY.md), or limit by rate"
)

// checkHolders finds limits of concurrency for which nobody can hold a permit.
func (l *Loaded) checkHolders(s Sources) error {
	if l.Gateway.On() || !l.Rules.Set.HasConcurrency() {
		return nil
	}
	_, err := s.rules(append(options(l.Secret, l.Conditions), aboutHolders(false)))
	return err
}

func aboutHolders(warning bool) rulefile.Option {
	return rulefile.Compile(rule.AboutConcurrency(NobodyHolds, nobodyHoldsHint, warning))
}
