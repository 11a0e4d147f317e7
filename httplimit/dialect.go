package httplimit

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/internal/clock"
	"github.com/sluice-limiter/sluice/rule"
)

// dialect is one way to tell clients of their limits.
type dialect struct {
	expose string                                   // the names of its fields, and Retry-After
	item   func(name string, l sluice.Limit) string // of one limit in RateLimit-Policy; nil: there is no such field
	silent bool                                     // there are no fields

	// What remains, r, and when more comes, t in seconds, is told by set, or else in the
	// list RateLimit under these names. A negative t is not known.
	set          func(h http.Header, l *shown, r, t int64)
	nameR, nameT string
}

var dialects = map[rule.Headers]*dialect{
	rule.HeadersDraft10: {expose: list, item: draft10Item, nameR: ";r=", nameT: ";t="},
	rule.HeadersDraft11: {expose: list, item: draft10Item, nameR: ";a=", nameT: ";w="},
	rule.HeadersDraft07: {expose: list, item: draft07Item, set: draft07},
	rule.HeadersDraft06: {expose: "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After", set: draft06},
	rule.HeadersLegacy:  {expose: "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After", set: legacy},
	rule.HeadersNone:    {expose: "Retry-After", silent: true},
}

const list = "RateLimit, RateLimit-Policy, Retry-After"

// The fields as net/http writes them.
const (
	fieldRateLimit = "Ratelimit"
	fieldPolicy    = "Ratelimit-Policy"
	fieldExpose    = "Access-Control-Expose-Headers"
)

// maxInteger is the largest that a structured field can hold.
const maxInteger = 999_999_999_999_999

func integer(n int64) string { return strconv.FormatInt(min(n, maxInteger), 10) }

// draft10Item is `"api";q=100;w=60`. A window that is not whole seconds, and a month,
// cannot be told. A burst is a parameter of our own. What counts requests in flight has
// no window, but a unit.
func draft10Item(name string, l sluice.Limit) string {
	item := sfString(name) + ";q=" + integer(l.Count)
	if l.Algorithm == sluice.InFlight {
		return item + `;qu="concurrent-requests"`
	}
	if w := windowSeconds(l); w > 0 {
		item += ";w=" + integer(w)
	}
	if l.Algorithm == sluice.TokenBucket && l.Burst != 0 && l.Burst != l.Count {
		item += ";sluice-burst=" + integer(l.Burst)
	}
	return item
}

func draft07Item(_ string, l sluice.Limit) string {
	item := integer(l.Count)
	if w := windowSeconds(l); w > 0 {
		item += ";w=" + integer(w)
	}
	return item
}

// windowSeconds returns the length of the window, or 0 if it has none in seconds.
func windowSeconds(l sluice.Limit) int64 {
	switch {
	case l.Calendar == sluice.Day:
		return 24 * 60 * 60
	case l.Calendar != "" || l.Period%time.Second != 0:
		return 0
	}
	return int64(l.Period / time.Second)
}

// sfString writes a string of a structured field (RFC 9651): printable ASCII with
// quotes and backslashes escaped. What is not printable becomes a question mark.
func sfString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c < ' ' || c > '~':
			b.WriteByte('?')
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(byte(c))
		}
	}
	b.WriteByte('"')
	return b.String()
}

func draft07(h http.Header, l *shown, r, t int64) {
	text := "limit=" + integer(l.limit.Count) + ", remaining=" + integer(r)
	if t >= 0 {
		text += ", reset=" + integer(t)
	}
	h[fieldRateLimit] = []string{text}
}

func draft06(h http.Header, l *shown, r, t int64) {
	quota := integer(l.limit.Count)
	if w := windowSeconds(l.limit); w > 0 {
		quota += ", " + quota + ";w=" + integer(w)
	}
	setThree(h, "Ratelimit-", quota, r, t)
}

// legacy tells the reset as seconds since 1970, as those do who made it common.
func legacy(h http.Header, l *shown, r, t int64) {
	if t >= 0 {
		t += (clock.System().Start() + 1e6 - 1) / 1e6 // what is rounded up must not be early by now
	}
	setThree(h, "X-Ratelimit-", integer(l.limit.Count), r, t)
}

func setThree(h http.Header, prefix, quota string, r, t int64) {
	h[prefix+"Limit"] = []string{quota}
	h[prefix+"Remaining"] = []string{integer(r)}
	if t >= 0 {
		h[prefix+"Reset"] = []string{integer(t)}
	}
}
