package config

import (
	"errors"
	"io/fs"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

// Examine checks all that Load checks, on a machine that need not hold the secrets, such
// as one that tests rules before they are deployed. Those that are not here are named in
// absent; where there is no secret to hash keys with, any will do.
func (s Sources) Examine() (l *Loaded, absent []string, err error) {
	l = &Loaded{Conditions: rulefile.NewConditions(), Secret: random()}
	if l.Rules, err = s.rules(options(l.Secret, l.Conditions)); err != nil {
		return nil, nil, err
	}
	var problems rulefile.Problems
	if l.Config, problems = s.resolve(l.Rules); len(problems) > 0 {
		return nil, nil, problems
	}
	if l.Gateway, problems = s.gateway(l.Rules); len(problems) > 0 {
		return nil, nil, problems
	}
	if !l.Gateway.On() && l.Rules.Set.HasConcurrency() { // a gateway may still come from the command line
		if l.Rules, err = s.rules(append(options(l.Secret, l.Conditions), aboutHolders(true))); err != nil {
			return nil, nil, err
		}
	}
	try := func(name string, place Secret, err error) {
		switch {
		case err == nil:
		case notHere(place, err):
			absent = append(absent, place.place())
		default:
			problems = append(problems, s.blame(l.Rules, placeOf(name, place), err.Error(), ""))
		}
	}
	l.Tokens, err = l.Config.Tokens.tokens(s.env)
	try("tokens", l.Config.Tokens, err)
	_, err = l.Config.Keys.Secret.secret(s.env)
	try("keys.secret", l.Config.Keys.Secret, err)
	if len(problems) > 0 {
		return nil, nil, problems
	}
	return l, absent, l.addEnvoy(s)
}

// notHere tells a secret that is elsewhere from one that is wrong.
func notHere(place Secret, err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		place.File == "" && errors.Is(err, errEmpty)
}

// Read reads the rules of a file or folder for a program that only wants to try them. Of
// the settings it checks the form only, and keys are hashed by a secret of its own.
func Read(path string) (*rulefile.Result, error) {
	return Sources{Path: path}.rules(options(random(), rulefile.NewConditions()))
}
