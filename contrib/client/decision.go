package sluiceclient

import (
	"errors"
	"time"
)

// Reasons of denials.
const (
	Limited     = "limited"     // the limit is used up; see RetryAfter
	Never       = "never"       // the cost is above what the limit can ever admit
	Banned      = "banned"      // the limit admits nothing
	Unavailable = "unavailable" // the store could not be asked, and the policy for that is to deny
	NoRule      = "no_rule"     // no rule matched, and the default is to deny
	MissingKey  = "missing_key" // what the rule's key is made of is missing
	Ambiguous   = "ambiguous"   // the path can be read in more than one way
)

// Decision is the answer to a request. A denial speaks of the limit that takes longest,
// an allowance of the one with least left.
type Decision struct {
	Allowed    bool
	Reason     string // of a denial; empty if it is allowed
	Rule       string // the rule that bound; empty if none did
	Limit      string // the name of its limit that bound
	Remaining  int64  // the cost that the limit would still admit
	RetryAfter time.Duration
	ResetAfter time.Duration // when nothing that was spent counts any more
	Wait       time.Duration // for how long an allowed request has to be held before it goes ahead
	Shadow     bool          // allowed, but a limit that is not enforced would have refused it
	Degraded   bool          // decided without the store, which could not be asked
	Err        error         // of CheckAll only: why this one could not be decided
}

// wireDecision is a decision as it is sent.
type wireDecision struct {
	Allowed      bool   `json:"allowed"`
	Reason       string `json:"reason"`
	Rule         string `json:"rule"`
	Limit        string `json:"limit"`
	Remaining    int64  `json:"remaining"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	ResetAfterMS int64  `json:"reset_after_ms"`
	WaitMS       int64  `json:"wait_ms"`
	Shadow       bool   `json:"shadow"`
	Degraded     bool   `json:"degraded"`
	Error        string `json:"error"`
}

func (w *wireDecision) decision() Decision {
	d := Decision{
		Allowed:    w.Allowed,
		Reason:     w.Reason,
		Rule:       w.Rule,
		Limit:      w.Limit,
		Remaining:  w.Remaining,
		RetryAfter: milliseconds(w.RetryAfterMS),
		ResetAfter: milliseconds(w.ResetAfterMS),
		Wait:       milliseconds(w.WaitMS),
		Shadow:     w.Shadow,
		Degraded:   w.Degraded,
	}
	if w.Error != "" {
		d.Err = errors.New("sluiceclient: check: " + w.Error)
	}
	return d
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

type wireDecisions struct {
	Decisions []wireDecision `json:"decisions"`
}

// Reservation is a cost that was spent ahead. Settle it once, with Commit, within an
// hour; left alone, the estimate stays spent.
type Reservation struct {
	Decision
	ID string // for Client.Commit, perhaps in another process; empty if it is not allowed

	client  *Client
	request Request
}

type wireReservation struct {
	wireDecision
	ID string `json:"id"`
}
