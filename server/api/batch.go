package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/sluice-limiter/sluice/engine"
)

// checkBatch decides all requests of a batch. If the client leaves, the rest is not
// decided; if it takes too long, neither, and the answer says so for each.
func (h *handler) checkBatch(w http.ResponseWriter, r *http.Request, x *exchange) {
	ctx, cancel := context.WithTimeout(r.Context(), h.options.Timeout)
	defer cancel()
	e := h.backend.Engine()
	x.denied = 0
	if n := min(h.options.Parallel, len(x.parsed.items)); n > 1 {
		x.decideTogether(ctx, e, n)
	} else {
		x.decideInTurn(ctx, e)
	}
	h.annotateBatch(r, x)
	if errors.Is(ctx.Err(), context.Canceled) {
		fail(w, undecided(ctx.Err()))
		return
	}
	h.leave(x) // the answer may be long, and who is slow to take it must not keep a place
	send(w, http.StatusOK, x.out)
}

// decideInTurn decides one after the other, and writes the decisions on the way.
func (x *exchange) decideInTurn(ctx context.Context, e *engine.Engine) {
	x.out = append(x.out[:0], `{"decisions":[`...)
	for i := range x.parsed.items {
		if errors.Is(ctx.Err(), context.Canceled) {
			return // with half an answer, which is not sent
		}
		d, err := decide(ctx, e, &x.parsed.items[i])
		x.add(i, &d, err)
	}
	x.out = append(x.out, "]}\n"...)
}

// result is what came out of one request of a batch.
type result struct {
	decision engine.Decision
	err      error
}

// decideTogether decides n at the same time, since each of them mostly waits for the
// store.
func (x *exchange) decideTogether(ctx context.Context, e *engine.Engine, n int) {
	results := make([]result, len(x.parsed.items))
	var next atomic.Int64
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(results) {
					return
				}
				results[i].decide(ctx, e, &x.parsed.items[i])
			}
		})
	}
	all.Wait()
	x.out = append(x.out[:0], `{"decisions":[`...)
	for i := range results {
		x.add(i, &results[i].decision, results[i].err)
	}
	x.out = append(x.out, "]}\n"...)
}

// decide turns a panic, which would end the process from here, into an error.
func (r *result) decide(ctx context.Context, e *engine.Engine, it *item) {
	defer func() {
		if cause := recover(); cause != nil {
			r.err = fmt.Errorf("api: the engine panicked: %v", cause)
		}
	}()
	r.decision, r.err = decide(ctx, e, it)
}

// decide decides, unless the time is over.
func decide(ctx context.Context, e *engine.Engine, it *item) (engine.Decision, error) {
	if err := ctx.Err(); err != nil {
		return engine.Decision{}, err
	}
	return e.Check(ctx, it.request)
}

// add writes decision number i.
func (x *exchange) add(i int, d *engine.Decision, err error) {
	if i > 0 {
		x.out = append(x.out, ',')
	}
	if err != nil {
		x.out = appendError(x.out, err)
		return
	}
	if !d.Allowed {
		x.denied++
	}
	x.out = appendDecision(x.out, d)
}
