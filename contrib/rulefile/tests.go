package rulefile

import (
	"time"

	"github.com/sluice-limiter/sluice/rule"
)

// Test is one entry of the section tests: requests at times, and what is expected.
// Every test begins with fresh budgets, on a clock of its own.
type Test struct {
	Name  string    `json:"name"`
	Start time.Time `json:"start,omitzero"` // what the clock shows first; 2026-01-01T00:00:00Z if not given
	Steps []Step    `json:"steps"`
}

// Step is a request, sent once or several times, with what is expected. Expect holds
// for every one of them, all other expectations for the last.
type Step struct {
	At      rule.Duration `json:"at,omitempty"` // since the start; as the step before if not given
	Request TestRequest   `json:"request"`
	Repeat  int           `json:"repeat,omitempty"` // 1 if not given
	Takes   rule.Duration `json:"takes,omitempty"`  // how long each is in flight, for limits of concurrency; over at once if not given

	Expect     Expect         `json:"expect"`
	Rule       *string        `json:"rule,omitempty"`        // the rule that bound
	Limit      *string        `json:"limit,omitempty"`       // the name of the limit that bound
	Remaining  *int64         `json:"remaining,omitempty"`   // what the limit would still admit
	RetryAfter *rule.Duration `json:"retry_after,omitempty"` // when a denied request may come again
	Wait       *rule.Duration `json:"wait,omitempty"`        // how long an allowed request has to wait
	Reason     *string        `json:"reason,omitempty"`      // of a denial: limited, never, banned, no_rule, missing_key, ambiguous
	Shadow     *bool          `json:"shadow,omitempty"`      // allowed, but a limit that is not enforced would have refused it
}

// Expect is the outcome of a step.
type Expect string

// Outcomes.
const (
	ExpectAllow Expect = "allow"
	ExpectDeny  Expect = "deny"
)

// Bounds on tests, so that a file cannot keep its reader busy.
const (
	maxRepeat   = 100_000
	maxRequests = 1_000_000 // of all tests of a set of files
)

// testStart is what the clock of a test shows first.
var testStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
