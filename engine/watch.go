package engine

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/internal/topkeys"
	"github.com/sluice-limiter/sluice/rule"
)

const (
	// sampledOneIn is how many requests one stands for where it is too costly to look
	// at each: see topkeys.Sampler.
	sampledOneIn = 32
	topWindow    = time.Minute
	routeWindow  = time.Hour
	maxStripes   = 64
)

// watch is what the engine knows about itself: counts, top keys, uncovered routes and
// recent refusals, in fixed memory. observe is called for every decision, and takes a
// lock that it waits for only if all stripes are taken.
type watch struct {
	clock    *clock.Clock // the engine's
	stripes  []stripe     // a power of 2
	requests *topkeys.Table
	denials  *topkeys.Table
	routes   atomic.Pointer[topkeys.Table]
	recents  recents

	mu    sync.Mutex // one swap or sum at a time
	known *known     // guarded by mu
}

func newWatch(rules []*rule.Compiled, c *clock.Clock) *watch {
	callers := runtime.GOMAXPROCS(0)
	w := &watch{
		clock:    c,
		stripes:  make([]stripe, min(1<<bits.Len(uint(2*callers-1)), maxStripes)),
		requests: topkeys.New(callers, topWindow),
		denials:  topkeys.New(callers, topWindow),
		known:    newKnown(rules),
	}
	for i := range w.stripes {
		w.stripes[i].known = w.known
		w.stripes[i].sampler = topkeys.NewSampler(sampledOneIn, topWindow, rand.Uint64())
	}
	w.routes.Store(topkeys.New(1, routeWindow))
	return w
}

// swap makes set the rules that are counted. Rules that keep their name keep their
// numbers, those of others are gone. What was not covered may be now, so routes are
// counted afresh.
func (w *watch) swap(set *rule.Set) { w.swapRules(set.Rules()) }

func (w *watch) swapRules(rules []*rule.Compiled) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = newKnown(rules)
	for i := range w.stripes {
		s := &w.stripes[i]
		s.mu.Lock()
		s.move(w.known)
		s.mu.Unlock()
	}
	w.routes.Store(topkeys.New(1, routeWindow))
}

// observe takes note of a decision.
func (w *watch) observe(e *Event) {
	h := hint(e)
	s := &w.stripes[h&uint32(len(w.stripes)-1)]
	if !s.mu.TryLock() {
		s = w.lockAny(h)
	}
	s.count(e)
	var now int64
	var weight uint64
	if s.sampler.Due() {
		now = w.clock.Now()
		weight = s.sampler.Take(now)
	}
	s.mu.Unlock()
	if weight > 0 {
		w.sample(e, h, now, weight)
	}
	if e.Err == nil && (!e.Decision.Allowed || e.Decision.Shadow) {
		w.refused(e, h)
	}
}

// lockAny returns a stripe that the caller has for itself: the next one after that of
// the hint that nobody holds.
func (w *watch) lockAny(hint uint32) *stripe {
	mask := uint32(len(w.stripes) - 1)
	for i := range mask {
		if s := &w.stripes[(hint+1+i)&mask]; s.mu.TryLock() {
			return s
		}
	}
	s := &w.stripes[hint&mask]
	s.mu.Lock()
	return s
}

// sample counts a request that stands for others among the top.
func (w *watch) sample(e *Event, hint uint32, now int64, weight uint64) {
	e.spell()
	if uncovered(e) {
		w.addRoute(e, hint, now, weight)
		return
	}
	for i := range e.Outcomes {
		if o := &e.Outcomes[i]; ranked(o) {
			w.requests.Add(hint, now, o.Rule.Name, ownKey(o), weight)
		}
	}
}

// refused counts and keeps a refusal, or what would have been one.
func (w *watch) refused(e *Event, hint uint32) {
	now := w.clock.Now()
	for i := range e.Outcomes {
		if o := &e.Outcomes[i]; !o.Allowed && !o.Undecided && ranked(o) {
			w.denials.Add(hint, now, o.Rule.Name, ownKey(o), 1)
		}
	}
	w.recents.add(e, now)
}

// ranked reports whether a rule has keys to compare, and the request one of them.
func ranked(o *Outcome) bool { return len(o.Rule.Key) > 0 && o.Key != "" }

// ownKey returns the key as it is among those of its rule: at the store, a tag in
// braces may and the rule's name does stand before it.
func ownKey(o *Outcome) string {
	key := o.Key
	if strings.HasPrefix(key, "{") {
		_, key, _ = strings.Cut(key, "}")
	}
	if own, ok := strings.CutPrefix(key, o.Rule.Name); ok {
		return strings.TrimPrefix(own, "|")
	}
	return o.Key
}
