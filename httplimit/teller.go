package httplimit

import (
	"net/http"
	"strconv"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// Teller returns what [Rules] tells clients by, for doors that make decisions of e
// themselves. It sets the header fields that speak of the limit that bound, in the
// dialect of its rule or, if that names none, in this one, and after a refusal
// Retry-After. What others have told of their limits stays. It panics if e is nil or
// the dialect is unknown.
func Teller(e *engine.Engine, dialect rule.Headers) func(h http.Header, d engine.Decision) {
	if e == nil {
		panic("httplimit: Teller: the engine is nil (make it with engine.New)")
	}
	mustKnow("Teller", dialect)
	p := &policies{engine: e, dialect: dialect}
	return func(h http.Header, d engine.Decision) {
		if policy, limit := p.find(&d); policy != nil {
			policy.tell(h, false, limit, &d.Decision)
		}
		if !d.Allowed {
			tellRetry(h, &d.Decision, 0)
		}
	}
}

// tellRetry sets Retry-After for a refusal and returns it: 0 if to come back is in vain.
func tellRetry(h http.Header, d *sluice.Decision, jitter float64) int64 {
	retry := retrySeconds(d, jitter)
	if retry > 0 {
		h["Retry-After"] = []string{strconv.FormatInt(retry, 10)}
	}
	return retry
}

// mustKnow panics if there is no such dialect.
func mustKnow(caller string, dialect rule.Headers) {
	if dialects[dialect] == nil {
		panic("httplimit: " + caller + ": unknown dialect " + strconv.Quote(string(dialect)) + " (use one of rule.HeadersDraft10, Draft11, Draft07, Draft06, Legacy, None)")
	}
}
