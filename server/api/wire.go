package api

import (
	"time"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/audit"
)

// Request is what a caller knows of the request that it asks about. Rules that look at
// something that is not given do not match, or do as their "missing" says.
type Request struct {
	Method     string            `json:"method,omitempty"`
	Host       string            `json:"host,omitempty"`       // with or without port
	Path       string            `json:"path,omitempty"`       // as the client sent it, still encoded; the query may follow it
	Query      string            `json:"query,omitempty"`      // still encoded, without the question mark
	IP         string            `json:"ip,omitempty"`         // of the client
	User       string            `json:"user,omitempty"`       // who it is, after authentication
	Headers    map[string]string `json:"headers,omitempty"`    // names in any case, each once
	Attributes map[string]string `json:"attributes,omitempty"` // anything else that rules ask for
	Cost       int64             `json:"cost,omitempty"`       // overrides what the rules say, if above 0
	Length     int64             `json:"length,omitempty"`     // of the body in bytes; -1 if it is not known
}

// CheckRequest is the body of POST /v1/check: one request, or a batch.
type CheckRequest struct {
	Request
	Status   bool      `json:"status,omitempty"`   // answer a denial with status 429 and header fields; not in a batch
	Requests []Request `json:"requests,omitempty"` // a batch of 1 to 1,000, instead of all other fields
}

// CommitRequest is the body of POST /v1/commit: the same request as was reserved for.
type CommitRequest struct {
	Request
	ID     string `json:"id"`     // of the reservation
	Actual int64  `json:"actual"` // what the request really took; 0 gives all of it back
}

// Decision is the answer to a request. A denial speaks of the limit that takes longest,
// an allowance of the one with least left.
type Decision struct {
	Allowed      bool   `json:"allowed"`
	Reason       string `json:"reason"`          // of a denial: limited, never, banned, unavailable, no_rule, missing_key, ambiguous; in a batch also error
	Rule         string `json:"rule"`            // the rule that bound; empty if none did
	Limit        string `json:"limit"`           // the name of its limit that bound
	Remaining    int64  `json:"remaining"`       // the cost that the limit would still admit
	RetryAfterMS int64  `json:"retry_after_ms"`  // of a denial: when the same request will be allowed, if nobody else takes it first; 0 if it never will
	ResetAfterMS int64  `json:"reset_after_ms"`  // when nothing that was spent counts any more
	WaitMS       int64  `json:"wait_ms"`         // for how long an allowed request has to be held before it goes ahead
	Shadow       bool   `json:"shadow"`          // allowed, but a limit that is not enforced would have refused it
	Degraded     bool   `json:"degraded"`        // decided without the store, which could not be asked
	Error        string `json:"error,omitempty"` // in a batch: why this one could not be decided
}

// Decisions is the answer to a batch, in its order.
type Decisions struct {
	Decisions []Decision `json:"decisions"`
}

// Reservation is the answer to POST /v1/reserve.
type Reservation struct {
	ID string `json:"id,omitempty"` // for /v1/commit, within an hour; only if it is allowed
	Decision
}

// Explanation is the answer to POST /v1/explain.
type Explanation struct {
	Decision Decision `json:"decision"` // what a check would say now
	Path     string   `json:"path"`     // as rules see it
	// Calls is how many calls of the store a check takes, 0 if it asks none. Above 1 the
	// keys lie in as many slots of a Redis Cluster: what the first calls spend is given
	// back if a later one refuses, and others can see it for a round trip. Rules with the
	// same tag keep their keys together.
	Calls int               `json:"calls"`
	Rules []RuleExplanation `json:"rules"` // all rules, in the order of the configuration
}

// RuleExplanation is what one rule has to do with a request.
type RuleExplanation struct {
	Rule    string             `json:"rule"`
	Matches bool               `json:"matches"`
	Why     string             `json:"why"`
	Key     string             `json:"key"`  // whose budget, as it is among those of the rule
	Mode    rule.Mode          `json:"mode"` // in force for this key: rollout and shadow-all included
	Cost    int64              `json:"cost"`
	Limits  []LimitExplanation `json:"limits"`
}

// LimitExplanation is the state of one limit, as the request would find it.
type LimitExplanation struct {
	Name         string     `json:"name"`
	Limit        string     `json:"limit"`
	Scope        rule.Scope `json:"scope"`
	Candidate    bool       `json:"candidate"` // measured beside the limits, never refusing
	Allowed      bool       `json:"allowed"`   // by this limit, whatever the others say
	Reason       string     `json:"reason"`
	Remaining    int64      `json:"remaining"`           // what would be left after the request, or is left if it is refused
	InFlight     int64      `json:"in_flight,omitempty"` // of a limit of concurrency: how many requests are
	RetryAfterMS int64      `json:"retry_after_ms"`
	ResetAfterMS int64      `json:"reset_after_ms"`
	WaitMS       int64      `json:"wait_ms"`
	Degraded     bool       `json:"degraded"` // the store could not be asked
}

// Rules is the answer to GET /v1/rules.
type Rules struct {
	Version   Version      `json:"version"`
	ShadowAll bool         `json:"shadow_all"` // every rule is turned to shadow
	Default   rule.Default `json:"default"`    // what happens to a request that no rule matches
	Paths     rule.Paths   `json:"paths,omitzero"`
	Rules     []rule.Rule  `json:"rules"`
}

// RuleDetail is the answer to GET /v1/rules/{name}.
type RuleDetail struct {
	Rule  rule.Rule `json:"rule"`
	Stats RuleStats `json:"stats"`
}

// Validation is the answer to POST /v1/rules/validate.
type Validation struct {
	Valid    bool          `json:"valid"`
	Problems []RuleProblem `json:"problems"` // warnings too
}

// RuleProblem is one thing that is wrong with a rule file.
type RuleProblem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1; absent if it is about the whole
	Column  int    `json:"column,omitempty"` // from 1, in characters
	Rule    string `json:"rule,omitempty"`
	Field   string `json:"field,omitempty"` // where in the rule or the file: limits[1].scope
	Reason  string `json:"reason"`
	Hint    string `json:"hint,omitempty"`
	Warning bool   `json:"warning,omitempty"` // it works, but hardly as meant
}

// Reloaded is the answer to POST /v1/reload and /v1/rules/rollback.
type Reloaded struct {
	Before  Version  `json:"before"`
	After   Version  `json:"after"`
	Changes []string `json:"changes"` // in words; empty if nothing changed
}

// ShadowAll is the body of PUT /v1/shadow-all, and its answer.
type ShadowAll struct {
	On bool `json:"on"` // every rule is turned to shadow: nothing is refused by a limit
}

// Stats is the answer to GET /v1/stats: counts since the server started.
type Stats struct {
	Requests  int64       `json:"requests"` // allowed, denied and errors together
	Allowed   int64       `json:"allowed"`
	Denied    int64       `json:"denied"`
	Errors    int64       `json:"errors"`   // could not be decided
	Shadow    int64       `json:"shadow"`   // allowed, but a limit that is not enforced would have refused them
	Degraded  int64       `json:"degraded"` // decided without the store
	NoRule    int64       `json:"no_rule"`  // matched by no rule
	ShadowAll bool        `json:"shadow_all"`
	Rules     []RuleStats `json:"rules"`
	Uncovered []Route     `json:"uncovered"` // the busiest routes that no rule matches
}

// RuleStats are counts of one rule, since it has its name.
type RuleStats struct {
	Rule            string `json:"rule"`
	Requests        int64  `json:"requests"` // that it matched
	Allowed         int64  `json:"allowed"`  // by this rule, whatever others said
	Denied          int64  `json:"denied"`
	ShadowDenied    int64  `json:"shadow_denied"`    // would have been denied if it were enforced
	CandidateDenied int64  `json:"candidate_denied"` // would have been denied by its candidate limits
	Undecided       int64  `json:"undecided"`        // not asked to the end, since others had refused or it could not be decided
	Degraded        int64  `json:"degraded"`
	CostOffered     int64  `json:"cost_offered"`  // of all requests that it matched
	CostAdmitted    int64  `json:"cost_admitted"` // of those that were charged to its limits
}

// Route is where requests go, without what differs from one to the next.
type Route struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Count  int64  `json:"count"`
	Error  int64  `json:"error"` // count is off by no more than this
}

// Top is the answer to GET /v1/top.
type Top struct {
	By   string   `json:"by"`
	Keys []TopKey `json:"keys"` // busiest first
}

// TopKey is a key that is busy.
type TopKey struct {
	Rule  string `json:"rule"`
	Key   string `json:"key"`
	Count int64  `json:"count"` // since one to two minutes ago
	Error int64  `json:"error"` // count is off by no more than this
}

// Records is the answer to GET /v1/decisions.
type Records struct {
	Decisions []Record `json:"decisions"` // newest first
}

// Record is a refusal that is remembered, or a shadow refusal.
type Record struct {
	Time         time.Time `json:"time"`
	Shadow       bool      `json:"shadow"` // it was let through, but by the rule it would have been refused
	Rule         string    `json:"rule"`
	Limit        string    `json:"limit"`
	Key          string    `json:"key"`
	Method       string    `json:"method"`
	Path         string    `json:"path"`
	Reason       string    `json:"reason"`
	RetryAfterMS int64     `json:"retry_after_ms"`
}

// Audit is the answer to GET /v1/audit.
type Audit struct {
	Entries []audit.Entry `json:"entries"` // newest first
}

// Health is the answer to GET /healthz and /readyz.
type Health struct {
	Status string `json:"status"` // ok, or ready
}
