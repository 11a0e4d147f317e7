package config

import (
	"errors"
	"fmt"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/envoy"
)

// addEnvoy adds what descriptors say to the rules. Instead of the built-in sample they
// stand alone: nobody asked for that.
func (l *Loaded) addEnvoy(s Sources) (err error) {
	c := &l.Config.Envoy
	if c.Config == "" {
		return nil
	}
	if l.Envoy, err = envoy.Load(c.Config, envoy.Options{Merge: c.Merge, Zone: c.Zone}); err != nil {
		return err
	}
	l.EnvoyStamp = l.Envoy.Stamp()
	all := *l.Rules
	if s.Path == "" {
		all.Config = rule.Config{}
	}
	if len(all.Config.Rules) == 0 {
		all.Warnings = nil // that there are no rules
	}
	all.Config.Rules = append(all.Config.Rules[:len(all.Config.Rules):len(all.Config.Rules)], l.Envoy.Rules()...)
	opts := []rule.Option{rule.Conditions(l.Conditions.Compile)}
	if l.Secret != nil {
		opts = append(opts, rule.HashKey(l.Secret))
	}
	if all.Set, err = rule.Compile(all.Config, opts...); err != nil {
		return envoyProblems(c.Config, err)
	}
	l.Rules = &all
	return nil
}

// envoyProblems names the rule that each finding is about.
func envoyProblems(path string, err error) error {
	var findings rule.Findings
	if !errors.As(err, &findings) {
		return rulefile.Problems{{File: path, Reason: err.Error()}}
	}
	var problems rulefile.Problems
	for _, f := range findings {
		problems = append(problems, rulefile.Problem{File: path, Rule: f.Rule, Field: f.Field, Reason: fmt.Sprintf("rule %s: %s: %s", f.Rule, f.Field, f.Reason), Hint: f.Hint})
	}
	return problems
}
