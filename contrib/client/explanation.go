package sluiceclient

import "time"

// Explanation tells what would happen to a request and why.
type Explanation struct {
	Decision Decision          // what Check would say now
	Path     string            // as rules see it
	Calls    int               // of the server's store that Check takes; above 1, keys lie in as many slots of a Redis Cluster
	Rules    []RuleExplanation // all rules, in the order of the configuration
}

// RuleExplanation is what one rule has to do with a request.
type RuleExplanation struct {
	Rule    string
	Matches bool
	Why     string
	Key     string // whose budget
	Mode    string // in force for this key: enforce, shadow or off
	Cost    int64
	Limits  []LimitExplanation
}

// LimitExplanation is the state of one limit, as the request would find it.
type LimitExplanation struct {
	Name       string
	Limit      string // such as 5/m
	Scope      string // cluster, instance or split
	Candidate  bool   // measured beside the limits, never refusing
	Allowed    bool   // by this limit, whatever the others say
	Reason     string
	Remaining  int64 // what would be left after the request, or is left if it is refused
	InFlight   int64 // of a limit of concurrency: how many requests are
	RetryAfter time.Duration
	ResetAfter time.Duration
	Wait       time.Duration
	Degraded   bool // the store could not be asked
}

type wireExplanation struct {
	Decision wireDecision          `json:"decision"`
	Path     string                `json:"path"`
	Calls    int                   `json:"calls"`
	Rules    []wireRuleExplanation `json:"rules"`
}

type wireRuleExplanation struct {
	Rule    string                 `json:"rule"`
	Matches bool                   `json:"matches"`
	Why     string                 `json:"why"`
	Key     string                 `json:"key"`
	Mode    string                 `json:"mode"`
	Cost    int64                  `json:"cost"`
	Limits  []wireLimitExplanation `json:"limits"`
}

type wireLimitExplanation struct {
	Name         string `json:"name"`
	Limit        string `json:"limit"`
	Scope        string `json:"scope"`
	Candidate    bool   `json:"candidate"`
	Allowed      bool   `json:"allowed"`
	Reason       string `json:"reason"`
	Remaining    int64  `json:"remaining"`
	InFlight     int64  `json:"in_flight"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	ResetAfterMS int64  `json:"reset_after_ms"`
	WaitMS       int64  `json:"wait_ms"`
	Degraded     bool   `json:"degraded"`
}

func (w *wireExplanation) explanation() *Explanation {
	x := &Explanation{Decision: w.Decision.decision(), Path: w.Path, Calls: w.Calls}
	for _, r := range w.Rules {
		to := RuleExplanation{Rule: r.Rule, Matches: r.Matches, Why: r.Why, Key: r.Key, Mode: r.Mode, Cost: r.Cost}
		for _, l := range r.Limits {
			to.Limits = append(to.Limits, LimitExplanation{
				Name: l.Name, Limit: l.Limit, Scope: l.Scope, Candidate: l.Candidate, Allowed: l.Allowed, Reason: l.Reason,
				Remaining: l.Remaining, InFlight: l.InFlight, RetryAfter: milliseconds(l.RetryAfterMS), ResetAfter: milliseconds(l.ResetAfterMS),
				Wait: milliseconds(l.WaitMS), Degraded: l.Degraded,
			})
		}
		x.Rules = append(x.Rules, to)
	}
	return x
}
