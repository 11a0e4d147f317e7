package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// tell sets the header fields of a denial that a proxy can pass on as they are:
// Retry-After and, unless the rule wants none, RateLimit (draft 10). Names of limits
// are plain enough to stand in quotes as they are.
func tell(header http.Header, d *engine.Decision) {
	after := int64((d.RetryAfter() + time.Second - 1) / time.Second)
	switch d.Reason {
	case sluice.Limited:
		after = max(after, 1)
	case sluice.Unavailable:
		after = 1
	}
	if after > 0 {
		header["Retry-After"] = []string{strconv.FormatInt(after, 10)}
	}
	if d.LimitName == "" || d.Rule == nil || d.Rule.Headers == rule.HeadersNone {
		return
	}
	item := `"` + d.LimitName + `";r=` + strconv.FormatInt(d.Remaining(), 10)
	if after > 0 {
		item += ";t=" + strconv.FormatInt(after, 10)
	}
	header["Ratelimit"] = []string{item}
}
