package replay

import (
	"strconv"
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
)

// Report is what a replay found. It reads and writes JSON.
type Report struct {
	Lines       Lines   `json:"lines"`
	Interrupted bool    `json:"interrupted,omitempty"` // it is about what came before somebody stopped it
	From        Instant `json:"from"`                  // of the first request
	To          Instant `json:"to"`

	Requests int64  `json:"requests"`
	Denied   int64  `json:"denied"`          // by rules that are enforced
	Shadow   int64  `json:"shadow"`          // allowed, but a rule in shadow would refuse them
	Waited   int64  `json:"waited"`          // allowed after a wait that a limit books
	NoRule   int64  `json:"no_rule"`         // matched by no rule
	Errors   int64  `json:"errors"`          // could not be decided
	Error    string `json:"error,omitempty"` // the first of them

	Spread Sensitivity `json:"spread"`
	Peaks  []Peak      `json:"peaks"` // of all requests
	Rules  []Rule      `json:"rules"`
	Memory Memory      `json:"memory"`

	Comparison *Comparison `json:"comparison,omitempty"` // with other rules
	Live       *Live       `json:"live,omitempty"`       // with what a server said
}

// Lines tells what became of the lines of the log: Total = Parsed + Rejected.
type Lines struct {
	Total    int64      `json:"total"`
	Parsed   int64      `json:"parsed"`
	Rejected int64      `json:"rejected"`
	Reasons  []Rejected `json:"reasons,omitempty"`
	Late     int64      `json:"late"`             // came later than the window that is sorted
	Latest   Seconds    `json:"latest,omitempty"` // how much later at most
	Formats  []string   `json:"formats,omitempty"`
}

// Rejected counts the lines that were rejected for one reason.
type Rejected struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
	File   string `json:"file"`
	Sample string `json:"sample"`
}

// Counted puts what the log tells of its lines into the report.
func (r *Report) Counted(l accesslog.Lines) {
	r.Lines = Lines{Total: l.Total, Parsed: l.Parsed, Rejected: l.Rejected, Late: l.Late, Latest: Seconds(l.Latest), Formats: l.Formats}
	for _, why := range l.Reasons {
		r.Lines.Reasons = append(r.Lines.Reasons, Rejected{string(why.Reason), why.Count, why.File, why.Sample})
	}
}

// Sensitivity tells how much the answer depends on where in its second each request is
// put, for logs that tell only the second.
type Sensitivity struct {
	Model  Spread           `json:"model"`            // by which everything else is told
	Coarse int64            `json:"coarse"`           // requests of which only the second is known
	Over   int64            `json:"over"`             // the first so many requests were decided by every model
	Denied map[Spread]int64 `json:"denied,omitempty"` // of those, shadow included
}

// Peak is the most that came in any window of a length, aligned to the clock.
type Peak struct {
	Over     Seconds `json:"over"`
	Requests int64   `json:"requests"`
	At       Instant `json:"at"` // when it began
}

// Rule is what one rule did.
type Rule struct {
	Name   string   `json:"name"`
	Limits []string `json:"limits"`
	Key    []string `json:"key"`
	Mode   string   `json:"mode"`

	Requests   int64   `json:"requests"` // that it matched
	Denied     int64   `json:"denied"`   // refused by it, or would be were it enforced
	Candidate  int64   `json:"candidate_denied"`
	Keys       int64   `json:"keys"`
	KeysDenied int64   `json:"keys_denied"`
	First      Instant `json:"first_denied,omitzero"`
	Last       Instant `json:"last_denied,omitzero"`

	Worst    []Moment    `json:"worst,omitempty"`      // minutes in which most was refused
	Denials  []DeniedKey `json:"top_denied,omitempty"` // who was refused most
	Suspects Suspects    `json:"false_kill_candidates"`
	Longest  *Refusal    `json:"longest_refusal_of_good_key,omitempty"`
	KeyPeaks []KeyPeaks  `json:"key_peaks"` // how busy keys get
	Timeline Timeline    `json:"timeline"`
}

// Moment is a stretch of time.
type Moment struct {
	At       Instant `json:"at"`
	Over     Seconds `json:"over"`
	Requests int64   `json:"requests"`
	Denied   int64   `json:"denied"`
}

// DeniedKey is a key that was refused.
type DeniedKey struct {
	Key      string  `json:"key"`
	Requests int64   `json:"requests"`
	Denied   int64   `json:"denied"`
	Limit    string  `json:"limit"`  // that refused it first
	Reason   string  `json:"reason"` // why
	First    Instant `json:"first"`
	Last     Instant `json:"last"`
	Longest  Seconds `json:"longest_refusal"` // from a refusal to the last one without an allowance between
	Agent    string  `json:"agent,omitempty"` // of its first refused request
	Good     bool    `json:"good"`            // by its agent no robot (see LooksGood), or somebody who is logged in
	Peak     int64   `json:"peak_per_minute"`
}

// Suspects are refused keys that look like people: candidates for false kills.
type Suspects struct {
	Keys     int64       `json:"keys"`
	Requests int64       `json:"requests"` // of them that were refused
	Top      []DeniedKey `json:"top,omitempty"`
}

// Refusal is a stretch in which a key got nothing but refusals.
type Refusal struct {
	Key   string  `json:"key"`
	From  Instant `json:"from"`
	For   Seconds `json:"seconds"`
	Agent string  `json:"agent,omitempty"`
}

// KeyPeaks tells how many requests keys make in their busiest window of a length: so
// many percent of the keys make no more than that.
type KeyPeaks struct {
	Over  Seconds `json:"over"`
	P50   int64   `json:"p50"`
	P90   int64   `json:"p90"`
	P95   int64   `json:"p95"`
	P99   int64   `json:"p99"`
	P999  int64   `json:"p99_9"`
	P9999 int64   `json:"p99_99"`
	Max   int64   `json:"max"`
}

// Timeline counts requests over the whole time.
type Timeline struct {
	From     Instant `json:"from"`
	Step     Seconds `json:"step"`
	Requests []int64 `json:"requests"`
	Denied   []int64 `json:"denied"`
}

// Memory tells what the budgets took at most, in this process. Keys that came to rest
// give their places to others.
type Memory struct {
	Keys      int64 `json:"keys"`
	Bytes     int64 `json:"bytes"`
	Forgotten int64 `json:"forgotten"` // keys for which there was no room; their decisions are not exact
}

// Instant is a time that is written as in RFC 3339, in UTC.
type Instant struct{ time.Time }

func instant(micros int64) Instant { return Instant{time.UnixMicro(micros).UTC()} }

// Seconds is a duration that is written as a number of seconds.
type Seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(string(text), 64)
	*s = Seconds(f * 1e9)
	return err
}

// String returns it as a duration.
func (s Seconds) String() string { return time.Duration(s).String() }
