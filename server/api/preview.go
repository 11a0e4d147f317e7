package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
)

// Errors of Backend.Preview and Backend.Record.
var (
	ErrNoRule   = errors.New("there is no such rule")
	ErrNoRecord = errors.New("the server keeps no record of its traffic")
)

// Preview tells what other limits would have done to the last requests of a rule.
type Preview struct {
	Rule      string         `json:"rule"`
	From      time.Time      `json:"from"` // nothing is known of what came before
	To        time.Time      `json:"to"`
	Cut       bool           `json:"cut"`           // the record was full: it begins later than the setting record.age says
	Overrides bool           `json:"overrides"`     // some keys have limits of their own, which are not looked at here
	Requests  int64          `json:"requests"`      // that the rule decided
	Keys      int64          `json:"keys"`          // of them
	Elsewhere int64          `json:"elsewhere"`     // requests beside those, which other rules refused
	With      PreviewOutcome `json:"with"`          // these limits
	InForce   PreviewOutcome `json:"with_in_force"` // the limits in force, on the same requests
}

// PreviewOutcome is what limits would have refused.
type PreviewOutcome struct {
	Limits     []string `json:"limits"`
	Denied     int64    `json:"denied"`
	KeysDenied int64    `json:"keys_denied"` // that met at least one refusal
}

// preview tells what another limit would have done.
func (h *handler) preview(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, namedRules), previewOf)
	query, p := queryOf(r, "limit")
	var limits []sluice.Limit
	if p == nil && query.Has("limit") {
		limit, err := sluice.Parse(query.Get("limit"))
		if err != nil {
			p = at("limit", err.Error(), "write 50/s, 100/m burst=20 or sliding_log 60/m, escaped as in URLs")
		}
		limits = append(limits, limit)
	}
	if p == nil && !h.compiling.begin() {
		p = busy(filesBusy)
	}
	if p != nil {
		fail(w, p)
		return
	}
	defer h.compiling.end()
	ctx, cancel := context.WithTimeout(r.Context(), previewTime)
	defer cancel()
	reply, err := h.backend.Preview(ctx, name, limits)
	switch {
	case err == nil:
		answer(w, reply)
	case errors.Is(err, ErrNoRule), errors.Is(err, ErrNoRecord):
		fail(w, unremembered(name, err))
	case ctx.Err() != nil:
		fail(w, undecided(ctx.Err()))
	default:
		fail(w, at("limit", err.Error(), "POST /v1/rules/validate tells what a rule may say"))
	}
}

// previewTime is how long a preview may take: a full record of the default size takes some
// seconds.
const previewTime = 20 * time.Second
