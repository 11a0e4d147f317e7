package httplimit

import (
	"math"
	"math/rand/v2"
	"net/http"

	"github.com/sluice-limiter/sluice"
)

// Status returns the status with which a decision is usually answered: 200 if it is
// allowed.
func Status(d sluice.Decision) int {
	if d.Allowed {
		return http.StatusOK
	}
	switch d.Reason {
	case sluice.Unavailable:
		return http.StatusServiceUnavailable
	case sluice.Ambiguous, sluice.MissingKey:
		return http.StatusBadRequest
	case sluice.NoRule:
		return http.StatusForbidden
	}
	return http.StatusTooManyRequests
}

// retrySeconds returns when to come back after a refusal, or 0 if that is in vain. It
// is never earlier than the decision says.
func retrySeconds(d *sluice.Decision, jitter float64) int64 {
	wait := int64(0)
	switch d.Reason {
	case sluice.Limited:
		wait = max(1, seconds(d.RetryAfter()))
	case sluice.Unavailable:
		wait = 1
	}
	if most := math.Ceil(float64(wait) * jitter); most > 0 {
		wait += rand.Int64N(int64(most) + 1)
	}
	return wait
}
