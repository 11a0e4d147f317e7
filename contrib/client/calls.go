package sluiceclient

import (
	"context"
	"fmt"
	"net/http"
)

// Check decides r and spends its cost.
func (c *Client) Check(ctx context.Context, r Request) (Decision, error) {
	var w wireDecision
	err := c.do(ctx, &call{op: "check", path: "/v1/check", body: r, spends: true}, &w)
	return w.decision(), err
}

// CheckAll decides all of rs, in their order, [MaxBatch] in one call. A request that
// could not be decided has its own Err. If a call fails, the decisions of those before
// it are returned with the error: they are spent.
func (c *Client) CheckAll(ctx context.Context, rs []Request) ([]Decision, error) {
	all := make([]Decision, 0, len(rs))
	for len(rs) > 0 {
		n := min(len(rs), MaxBatch)
		var w wireDecisions
		err := c.do(ctx, &call{op: "check", path: "/v1/check", body: batchRequest{rs[:n]}, spends: true}, &w)
		if err != nil {
			return all, err
		}
		if len(w.Decisions) != n {
			return all, fmt.Errorf("sluiceclient: check: %d decisions for %d requests: is this a sluice server?", len(w.Decisions), n)
		}
		for i := range w.Decisions {
			all = append(all, w.Decisions[i].decision())
		}
		rs = rs[n:]
	}
	return all, nil
}

// Peek tells what Check would at this instant, and spends nothing.
func (c *Client) Peek(ctx context.Context, r Request) (Decision, error) {
	var w wireDecision
	err := c.do(ctx, &call{op: "peek", path: "/v1/peek", body: r}, &w)
	return w.decision(), err
}

// Explain tells what would happen to r and why, rule by rule, and spends nothing.
func (c *Client) Explain(ctx context.Context, r Request) (*Explanation, error) {
	var w wireExplanation
	if err := c.do(ctx, &call{op: "explain", path: "/v1/explain", body: r}, &w); err != nil {
		return nil, err
	}
	return w.explanation(), nil
}

// Reserve spends the cost of r as an estimate, to be settled by Commit. A denial is no
// error; it has spent nothing.
func (c *Client) Reserve(ctx context.Context, r Request) (*Reservation, error) {
	var w wireReservation
	if err := c.do(ctx, &call{op: "reserve", path: "/v1/reserve", body: r, spends: true}, &w); err != nil {
		return nil, err
	}
	return &Reservation{Decision: w.decision(), ID: w.ID, client: c, request: r}, nil
}

// Commit says what the request really took. What is less than reserved is given back,
// what is more becomes a debt. The second time, or after an hour, it is an error that
// matches [ErrSettled].
func (r *Reservation) Commit(ctx context.Context, actual int64) error {
	if r.ID == "" {
		return fmt.Errorf("sluiceclient: commit: the reservation was not granted: %w", ErrSettled)
	}
	return r.client.Commit(ctx, r.request, r.ID, actual)
}

// Commit settles the reservation with this ID, which was made for the same request,
// perhaps in another process. See [Reservation.Commit].
func (c *Client) Commit(ctx context.Context, r Request, id string, actual int64) error {
	body := commitRequest{Request: r, ID: id, Actual: actual}
	return c.do(ctx, &call{op: "commit", path: "/v1/commit", body: body, spends: true}, nil)
}

// Reset forgets what was spent by the keys that r has under all rules that it matches.
func (c *Client) Reset(ctx context.Context, r Request) error {
	return c.do(ctx, &call{op: "reset", path: "/v1/reset", body: r, spends: true}, nil)
}

// Refund gives back cost to the keys that r has under all rules that it matches.
func (c *Client) Refund(ctx context.Context, r Request, cost int64) error {
	r.Cost = cost
	return c.do(ctx, &call{op: "refund", path: "/v1/refund", body: r, spends: true}, nil)
}

// Ready returns nil if the server can decide requests.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, &call{op: "ready", method: http.MethodGet, path: "/readyz"}, nil)
}
