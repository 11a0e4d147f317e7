package httplimit

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice/rule"
)

// pending is a cost that was estimated and is settled by a header of the response.
type pending struct {
	headers  []string // that may tell it; the first that does counts
	estimate int64    // -1: not the same for all rules
	commit   func(ctx context.Context, actual int64) error
}

// newPending returns what is to be settled for a request, or nil if nothing is.
func newPending(r *rule.Request, set *rule.Set) *pending {
	var m rule.Matches
	set.Match(r, &m)
	var p *pending
	for _, hit := range m.Hits {
		if name := hit.Rule.Cost.Response; name != "" {
			if p == nil {
				p = &pending{estimate: hit.Cost}
			} else if p.estimate != hit.Cost {
				p.estimate = -1
			}
			p.headers = append(p.headers, name)
		}
	}
	return p
}

// settled serves the request and settles its cost, also if the handler panics, as a
// reverse proxy does when an answer breaks off. The
// header is read when the handler is done, from where it has put it, so that one that
// knows only at its end can still tell, as a trailer or just to us.
func (g *guard) settled(w http.ResponseWriter, r *http.Request, p *pending) {
	defer func() {
		actual := p.actual(w.Header())
		if actual < 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Second)
		defer cancel()
		_ = p.commit(ctx, actual) // the estimate stays spent if the store cannot be reached
	}()
	g.next.ServeHTTP(w, r)
}

// actual returns what the response says, or the estimate if it says nothing that is
// a cost. It is -1 if there is nothing to settle by: then all estimates stay.
func (p *pending) actual(h http.Header) int64 {
	for _, name := range p.headers {
		text := h.Get(name)
		if text == "" {
			text = h.Get(http.TrailerPrefix + name)
		}
		if n, err := strconv.ParseInt(strings.Trim(text, " \t"), 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return p.estimate
}
