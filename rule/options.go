package rule

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"time"
)

// Option sets up Compile, Validate and Check.
type Option func(*compiler)

// Conditions lets rules have When expressions: compile turns the text of one into
// what tells whether a request fits. That is given a request whose path is in
// canonical form, so that no other spelling is a way round, and must not keep it.
//
// A rule whose expression has the word path in it depends on the path: for a path that
// is ambiguous the expression is not asked. See [Paths].
func Conditions(compile func(text string) (func(*Request) bool, error)) Option {
	return func(c *compiler) { c.conditions = compile }
}

// HashKey gives the secret, of 16 bytes or more, with which keys of rules that say
// hash are hashed. Instances that share budgets need the same one.
func HashKey(key []byte) Option {
	return func(c *compiler) {
		if len(key) < 16 {
			c.whole().fault("", "give 16 bytes or more, from a source of random numbers", "the secret of HashKey has %d bytes", len(key))
			return
		}
		key = slices.Clone(key)
		c.secret = &secret{}
		c.secret.pool.New = func() any { return &hmacState{hash: hmac.New(sha256.New, key)} }
	}
}

// At lays calendars out for now instead of the present time.
func At(now time.Time) Option { return func(c *compiler) { c.now = now } }

// AboutConcurrency adds a finding at every limit of concurrency of a rule that is not
// off: for programs that decide requests and cannot say when they are over, so that nobody
// would hold a permit.
func AboutConcurrency(reason, hint string, warning bool) Option {
	return func(c *compiler) { c.aboutConcurrency = &Finding{Reason: reason, Hint: hint, Warning: warning} }
}
