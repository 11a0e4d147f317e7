package api

import (
	"context"
	"net/http"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/audit"
)

// one reads a body that is one request, and lets f answer it in limited time.
func (h *handler) one(w http.ResponseWriter, r *http.Request, f func(ctx context.Context, request engine.Request) *Problem) {
	_, p := queryOf(r)
	x := h.begin()
	defer h.end(x)
	if p == nil {
		p = h.read(x, r, jsonType)
	}
	if p == nil {
		p = x.parseOne()
	}
	if p == nil {
		ctx, cancel := context.WithTimeout(r.Context(), h.options.Timeout)
		defer cancel()
		p = f(ctx, x.parsed.items[0].request)
	}
	if p != nil {
		fail(w, p)
	}
}

// peek tells what a check would, and spends nothing.
func (h *handler) peek(w http.ResponseWriter, r *http.Request) {
	h.one(w, r, func(ctx context.Context, request engine.Request) *Problem {
		d, err := h.backend.Engine().Peek(ctx, request)
		if err != nil {
			return undecided(err)
		}
		h.annotate(r, &d)
		answer(w, DecisionOf(&d))
		return nil
	})
}

// reset forgets what was spent by the keys of a request.
func (h *handler) reset(w http.ResponseWriter, r *http.Request) {
	h.one(w, r, func(ctx context.Context, request engine.Request) *Problem {
		err := h.backend.Engine().Reset(ctx, request)
		h.backend.Note(sourceOf(r), audit.ActionReset, request, err)
		if err != nil {
			return undecided(err)
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

// refund gives back the cost of a request.
func (h *handler) refund(w http.ResponseWriter, r *http.Request) {
	h.one(w, r, func(ctx context.Context, request engine.Request) *Problem {
		if request.Cost == 0 {
			return at("cost", "is missing", "say how much is to be given back")
		}
		err := h.backend.Engine().Refund(ctx, request, request.Cost)
		h.backend.Note(sourceOf(r), audit.ActionRefund, request, err)
		if err != nil {
			return undecided(err)
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

// reserve spends the cost of a request as an estimate.
func (h *handler) reserve(w http.ResponseWriter, r *http.Request) {
	h.one(w, r, func(ctx context.Context, request engine.Request) *Problem {
		reservation, err := h.backend.Engine().Reserve(ctx, request)
		if err != nil {
			return undecided(err)
		}
		h.annotate(r, &reservation.Decision)
		reply := Reservation{Decision: DecisionOf(&reservation.Decision)}
		if reservation.OK() {
			reply.ID = reservation.ID
		}
		answer(w, reply)
		return nil
	})
}

// commit settles a reservation.
func (h *handler) commit(w http.ResponseWriter, r *http.Request) {
	x := h.begin()
	defer h.end(x)
	p := h.readCommit(r, x)
	if p != nil {
		fail(w, p)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) readCommit(r *http.Request, x *exchange) *Problem {
	if _, p := queryOf(r); p != nil {
		return p
	}
	if p := h.read(x, r, jsonType); p != nil {
		return p
	}
	body := CommitRequest{Actual: -1}
	if p := x.parseInto(&body, &body.Request); p != nil {
		return p
	}
	switch {
	case body.ID == "":
		return at("id", "is missing", "give the id that /v1/reserve returned")
	case body.Actual < 0 || body.Actual > algo.MaxCount:
		return at("actual", "is missing or out of range", "say what the request really took: 0 to 1e15")
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.options.Timeout)
	defer cancel()
	if err := h.backend.Engine().Commit(ctx, x.parsed.items[0].request, body.ID, body.Actual); err != nil {
		return undecided(err)
	}
	return nil
}
