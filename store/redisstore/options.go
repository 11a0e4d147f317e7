package redisstore

import (
	"fmt"
	"strings"
	"time"
)

// Option changes a [Store].
type Option func(*Store) error

// Prefix sets what the names of all Redis keys begin with; "sluice" if it is not
// given. Stores with different prefixes share nothing.
func Prefix(prefix string) Option {
	return func(s *Store) error {
		if prefix == "" || strings.ContainsAny(prefix, "{}:") {
			return fmt.Errorf("redisstore: prefix %q must not be empty nor contain a colon or braces: %w", prefix, ErrOption)
		}
		s.wire.names.prefix = prefix
		return nil
	}
}

// Cluster is needed with Redis Cluster: decisions over several keys are cut into
// calls of one slot each. All limits of one key lie in one slot.
func Cluster() Option {
	return func(s *Store) error {
		s.spread = true
		return nil
	}
}

// Tag chooses the slot of keys in Redis Cluster: keys for which tag returns the
// same text lie in one slot, so that decisions over them are one call. An empty tag
// leaves the key by itself. Changing the tag of a key gives it a fresh budget.
func Tag(tag func(key string) string) Option {
	return func(s *Store) error {
		s.wire.names.tag = tag
		return nil
	}
}

// HashKeys has keys hashed with a secret before they leave the process, so that
// nobody who sees the database can read whom they name. All processes that share
// budgets need the same secret.
func HashKeys(secret []byte) Option {
	return func(s *Store) error {
		if len(secret) < 16 {
			return fmt.Errorf("redisstore: secret of %d bytes, need 16: %w", len(secret), ErrOption)
		}
		s.wire.names.secret = append([]byte(nil), secret...)
		return nil
	}
}

// DenialCache sets how many denials are remembered, each of a limit of a key, and
// for how long at most; 16,384 and a second if it is not given. With none, every
// request is sent to the server; so it is with [WithClock].
func DenialCache(entries int, maxAge time.Duration) Option {
	return func(s *Store) error {
		if entries < 0 || entries > 1<<24 || maxAge < 0 || maxAge > time.Minute {
			return fmt.Errorf("redisstore: denial cache of %d entries for %v, need up to 16777216 for up to 1m: %w", entries, maxAge, ErrOption)
		}
		if s.denials = nil; entries > 0 && maxAge > 0 && s.wire.now == nil {
			s.denials = newDenials(entries, maxAge)
		}
		return nil
	}
}

// WithClock has the script decide by the given clock instead of the server's. It
// is for tests: in production the clock of the server makes instances agree whose
// own clocks do not. Denials are not remembered then, whatever [DenialCache] says.
func WithClock(now func() time.Time) Option {
	return func(s *Store) error {
		s.wire.now = now
		s.denials = nil
		return nil
	}
}
