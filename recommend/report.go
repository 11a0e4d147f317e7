package recommend

import (
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// Report is a recommendation and what it rests on. It reads and writes JSON.
type Report struct {
	Lines replay.Lines `json:"lines"`

	Rule    string         `json:"rule"`
	Key     []string       `json:"key"`
	Match   rule.Match     `json:"match,omitzero"`
	Skip    rule.Skip      `json:"skip,omitzero"`
	Missing rule.Missing   `json:"missing,omitempty"`
	Cost    rule.Cost      `json:"cost,omitzero"`
	Period  replay.Seconds `json:"period"`
	Target  Rates          `json:"target"`
	Seed    uint64         `json:"seed"`

	From      replay.Instant `json:"from"`
	Split     replay.Instant `json:"split"` // fitted before, checked from here on
	To        replay.Instant `json:"to"`
	Days      float64        `json:"days"`
	Requests  int64          `json:"requests"`
	Unmatched int64          `json:"unmatched"` // requests that the rule is not for
	Keys      int64          `json:"keys"`

	Labels LabelReport `json:"labels"`
	Fits   []Fit       `json:"recommended"`
	// Without are the algorithms for which traffic tells no number, and why.
	Without []Without `json:"without,omitempty"`
}

// Without is an algorithm that cannot be recommended.
type Without struct {
	Algorithm sluice.Algorithm `json:"algorithm"`
	Why       string           `json:"why"`
}

// LabelReport tells who was not counted: refusing them is no mistake.
type LabelReport struct {
	Far      int64      `json:"far"` // what hardly anybody exceeds in a period
	Keys     int64      `json:"keys"`
	Requests int64      `json:"requests"`
	Top      []Labelled `json:"top,omitempty"` // busiest first
	// Group is how many keys are a group apart that is so large that it counts all the
	// same and decides the limit, and Apart what each of them exceeds in a period.
	Group int64 `json:"group,omitempty"`
	Apart int64 `json:"apart,omitempty"`
}

// Labelled is a key that was not counted, or that a limit is held up by.
type Labelled struct {
	Key      string `json:"key"`
	Requests int64  `json:"requests"`
	Peak     int64  `json:"peak"`          // the most in any period
	Why      string `json:"why,omitempty"` // it was not counted
	Agent    string `json:"agent,omitempty"`
}

// Fit is the recommendation for one algorithm.
type Fit struct {
	Algorithm sluice.Algorithm `json:"algorithm"`
	Limit     sluice.Limit     `json:"limit"`
	Most      int64            `json:"most"` // that a client which never pauses gets in a period

	Fitted   Outcome `json:"fitted"`
	Bound    Rates   `json:"bound"`    // with 95 % confidence no more than this is refused of those who count
	Promised bool    `json:"promised"` // the bound is within the target
	Checked  Outcome `json:"checked"`  // on the rest of the time
	Inside   bool    `json:"inside"`   // what the check found is within the bound

	Smallest sluice.Limit `json:"smallest"` // that would have met the target in the check
	Ratio    float64      `json:"ratio"`    // of the most of both
	Front    []Point      `json:"front"`
	Held     Held         `json:"held"`
}

// Held tells who holds a limit up: half of it would do for all keys but these.
type Held struct {
	Half sluice.Limit `json:"half"`
	Keys int64        `json:"keys"`
	Top  []Labelled   `json:"top,omitempty"` // busiest first
}

// Outcome is what a limit does to a part of the time.
type Outcome struct {
	Requests      int64 `json:"requests"` // of keys that count
	Denied        int64 `json:"denied"`
	Keys          int64 `json:"keys"`
	KeysDenied    int64 `json:"keys_denied"`
	Rates         Rates `json:"rates"`
	BadRequests   int64 `json:"bad_requests"` // of those that do not count
	BadDenied     int64 `json:"bad_denied"`
	BadKeys       int64 `json:"bad_keys"`
	BadKeysDenied int64 `json:"bad_keys_denied"`
}

// Point is a limit, and what it refuses in the part that limits are fitted to.
type Point struct {
	Limit       sluice.Limit `json:"limit"`
	Most        int64        `json:"most"`
	Rates       Rates        `json:"rates"`
	Bound       Rates        `json:"bound"`
	BadDenied   float64      `json:"bad_denied"` // share of the requests that do not count
	Recommended bool         `json:"recommended,omitempty"`
}

func instant(at int64) replay.Instant { return replay.Instant{Time: time.UnixMicro(at).UTC()} }
