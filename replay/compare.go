package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// Comparison tells what other rules would do to the same requests.
type Comparison struct {
	Denied   int64    `json:"denied"`        // by the other rules, shadow included
	Newly    []Change `json:"newly_refused"` // keys with most requests that only they refuse
	NoLonger []Change `json:"no_longer"`     // and that only the first rules do
	NewlyAll Total    `json:"newly_total"`   // over all keys
	GoneAll  Total    `json:"no_longer_total"`
}

// Change is a key whose requests fare otherwise under the other rules.
type Change struct {
	Rule     string `json:"rule"` // that refuses them
	Key      string `json:"key"`
	Requests int64  `json:"requests"` // that fare otherwise
	Good     bool   `json:"good"`     // by its agent no robot (see LooksGood), or somebody who is logged in
}

// Total counts changes over all keys.
type Total struct {
	Requests int64 `json:"requests"`
	Keys     int64 `json:"keys"`
}

// rival decides by other rules.
type rival struct {
	player      *Player
	blame       blame // by the other rules
	denied      int64
	newly, gone changes
}

// changes counts by rule and key.
type changes struct {
	requests int64
	keys     map[blame]*change
}

type change struct {
	requests int64
	good     bool
}

// blame remembers which rule refused the request at hand, and whom.
type blame struct{ rule, key string }

// Observe implements engine.Observer.
func (b *blame) Observe(ev *engine.Event) { b.note(ev) }

// note finds the first rule that did not allow.
func (b *blame) note(ev *engine.Event) {
	b.rule, b.key = "", ""
	for i := range ev.Outcomes {
		if o := &ev.Outcomes[i]; !o.Allowed {
			b.rule, b.key = o.Rule.Name, strings.Clone(strings.TrimPrefix(o.Key, o.Rule.Name+"|"))
			return
		}
	}
}

func newRival(set *rule.Set, at int64) (*rival, error) {
	v := &rival{newly: changes{keys: map[blame]*change{}}, gone: changes{keys: map[blame]*change{}}}
	var err error
	v.player, err = NewPlayer(set, at, &v.blame)
	return v, err
}

// decide decides the request by the other rules.
func (v *rival) decide(r *runner, request *rule.Request, first *engine.Decision) {
	other, err := v.player.Decide(r.player.now, request)
	if err != nil {
		return // the first rules told of a fault of the request
	}
	refused, before := refuses(&other), refuses(first)
	if refused {
		v.denied++
	}
	switch {
	case refused && !before:
		v.newly.add(v.blame, r.entry)
	case !refused && before:
		v.gone.add(r.blame, r.entry)
	}
}

// add counts a request. A key looks good if the first of its requests here does, or if
// anybody behind it is logged in.
func (c *changes) add(b blame, e *accesslog.Entry) {
	c.requests++
	k := c.keys[b]
	if k == nil {
		k = &change{good: LooksGood(e.Agent)}
		c.keys[b] = k
	}
	k.requests++
	k.good = k.good || e.User != ""
}

// top returns the keys with most requests.
func (c *changes) top(n int) []Change {
	list := make([]Change, 0, len(c.keys))
	for b, k := range c.keys {
		list = append(list, Change{Rule: b.rule, Key: b.key, Requests: k.requests, Good: k.good})
	}
	slices.SortFunc(list, func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Key, b.Key))
	})
	return slices.Clone(list[:min(n, len(list))])
}

func (v *rival) comparison(n int) *Comparison {
	return &Comparison{
		Denied: v.denied, Newly: v.newly.top(n), NoLonger: v.gone.top(n),
		NewlyAll: Total{v.newly.requests, int64(len(v.newly.keys))}, GoneAll: Total{v.gone.requests, int64(len(v.gone.keys))},
	}
}
