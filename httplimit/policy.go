package httplimit

import (
	"math/bits"
	"net/http"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// policy is what clients are told of limits that belong together, as far as it can be
// written down ahead.
type policy struct {
	dialect *dialect
	list    string // the value of RateLimit-Policy
	expose  string // the value of Access-Control-Expose-Headers
	limits  []shown
}

// shown is one limit of a policy.
type shown struct {
	name   string
	quoted string // the name as a string of a structured field
	limit  sluice.Limit
	untold bool // there is nothing to tell of it
	quick  bool // one more comes within a second, whatever the state
	last   *fields
}

// newPolicy describes limits, which have their defaults filled in. A limit that lets
// everything pass is nothing to tell of.
func newPolicy(dialectName rule.Headers, names []string, limits []sluice.Limit) *policy {
	p := &policy{dialect: dialects[dialectName]}
	p.expose = p.dialect.expose
	var items []string
	for i, l := range limits {
		held := l.Algorithm == sluice.InFlight && p.dialect.set != nil // which speaks of windows
		untold := p.dialect.silent || held || l.Algorithm == sluice.NoLimit
		p.limits = append(p.limits, shown{names[i], sfString(names[i]), l, untold, isQuick(l), new(fields)})
		if !untold && p.dialect.item != nil {
			items = append(items, p.dialect.item(names[i], l))
		}
	}
	p.list = strings.Join(items, ", ")
	return p
}

// tell sets the header fields for a decision about limit l.
func (p *policy) tell(h http.Header, crossOrigin bool, l *shown, d *sluice.Decision) {
	if !l.untold {
		p.tellLimit(h, l, d.Remaining(), l.moreAfter(d))
	}
	if crossOrigin {
		addField(h, fieldExpose, []string{p.expose})
	}
}

func (p *policy) tellLimit(h http.Header, l *shown, r, t int64) {
	if p.dialect.set == nil {
		p.tellList(h, l, r, t)
		return
	}
	p.dialect.set(h, l, r, t)
	if p.list != "" {
		addField(h, fieldPolicy, []string{p.list})
	}
}

// tellList sets RateLimit and RateLimit-Policy. What was written for another client
// need not be written again, but the lines are this one's own: somebody further out may
// change them.
func (p *policy) tellList(h http.Header, l *shown, r, t int64) {
	var line *lines
	last := l.last.at(r)
	if f := last.Load(); f != nil && f.r == r && f.t == t {
		line = &lines{f.text, p.list}
	} else {
		f = newField(l.quoted, p.dialect.nameR, r, p.dialect.nameT, t)
		line = &f.line
		*line = lines{f.text, p.list}
		last.Store(f)
	}
	if len(h) > 0 {
		addField(h, fieldRateLimit, line[:1:1])
		addField(h, fieldPolicy, line[1:])
		return
	}
	h[fieldRateLimit], h[fieldPolicy] = line[:1:1], line[1:]
}

// moreAfter returns in how many seconds, rounded up, there will be more than now: for
// a refused request as much as it needs. It is -1 if that is not known or never.
func (l *shown) moreAfter(d *sluice.Decision) int64 {
	if !d.Allowed {
		if d.Reason != sluice.Limited || l.limit.Algorithm == sluice.InFlight {
			return -1
		}
		return seconds(d.RetryAfter())
	}
	if l.quick {
		return 1
	}
	reset := d.ResetAfter()
	if reset <= 0 || d.RetryAfter() > 0 { // nothing is spent, or it has waited since
		return -1
	}
	switch {
	case l.limit.Algorithm == sluice.LeakyBucket, l.limit.Algorithm == sluice.TokenBucket && l.limit.Refill == sluice.Smoothly:
		return seconds(nextUnit(reset, l.limit.Period, l.limit.Count))
	case l.limit.Algorithm == sluice.TokenBucket:
		return seconds(nextUnit(reset, l.limit.Period, 1))
	}
	return seconds(reset)
}

// isQuick reports whether a bucket gets at least one per second.
func isQuick(l sluice.Limit) bool {
	smooth := l.Algorithm == sluice.LeakyBucket || l.Algorithm == sluice.TokenBucket && l.Refill == sluice.Smoothly
	return smooth && l.Count > 0 && l.Period/time.Duration(l.Count) <= time.Second
}

// nextUnit returns how long the next of the equal steps takes by which, count of them
// in a period, something recovers that will have done so after reset.
func nextUnit(reset, period time.Duration, count int64) time.Duration {
	hi, lo := bits.Mul64(uint64(reset), uint64(count))
	part := bits.Rem64(hi, lo, uint64(period))
	if part == 0 {
		part = uint64(period)
	}
	return time.Duration(part / uint64(count))
}

// seconds rounds up: to come back earlier would be in vain.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
