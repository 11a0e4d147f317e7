package config

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Bounds of secrets.
const (
	minToken  = 16
	minSecret = 16
	maxFile   = 1 << 20
)

// errEmpty means that nothing is there.
var errEmpty = errors.New("is empty or not set")

// tokens returns the bearer tokens, nil if nobody is asked for one. Errors name the place
// and never show a token.
func (s Secret) tokens(env func(string) (string, bool)) ([]string, error) {
	if s == (Secret{}) {
		return nil, nil
	}
	text, err := s.read(env)
	if err != nil {
		return nil, err
	}
	var tokens []string
	for i, line := range strings.Split(string(text), "\n") {
		if before, _, found := strings.Cut(line, "#"); found && s.File != "" {
			line = before
		}
		for _, token := range strings.Fields(line) {
			if len(token) < minToken {
				return nil, fmt.Errorf("%s: a token in line %d has %d characters: it needs at least %d", s.place(), i+1, len(token), minToken)
			}
			tokens = append(tokens, token)
		}
	}
	if tokens == nil {
		return nil, fmt.Errorf("%s %w", s.place(), errEmpty)
	}
	return tokens, nil
}

// secret returns the bytes by which keys are hashed, nil if there are none.
func (s Secret) secret(env func(string) (string, bool)) ([]byte, error) {
	if s == (Secret{}) {
		return nil, nil
	}
	text, err := s.read(env)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if len(text) < minSecret {
		return nil, fmt.Errorf("%s: the secret has %d bytes: it needs at least %d", s.place(), len(text), minSecret)
	}
	return text, nil
}

func (s Secret) read(env func(string) (string, bool)) ([]byte, error) {
	if s.File == "" {
		text, ok := env(s.Env)
		if !ok || strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%s %w", s.place(), errEmpty)
		}
		return []byte(text), nil
	}
	info, err := os.Stat(s.File)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s has %d bytes: that is no file of secrets", s.place(), info.Size())
	}
	return os.ReadFile(s.File)
}

// place names where the secret is.
func (s Secret) place() string {
	if s.File != "" {
		return "file " + s.File
	}
	return "variable " + s.Env
}

// random returns a secret for one life of the process.
func random() []byte {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return secret
}
