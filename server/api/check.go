package api

import (
	"net/http"
)

const jsonType = "application/json"

// check decides one request or a batch, and spends.
func (h *handler) check(w http.ResponseWriter, r *http.Request) {
	status, p := statusOption(r)
	if p != nil {
		fail(w, p)
		return
	}
	x := h.begin()
	defer h.end(x)
	if p = h.read(x, r, jsonType); p == nil {
		p = x.parseCheck()
	}
	if p == nil && x.parsed.batch && status {
		p = at("status", "has no meaning in a batch", "read allowed in each of the decisions")
	}
	switch {
	case p != nil:
		fail(w, p)
	case x.parsed.batch:
		h.checkBatch(w, r, x)
	default:
		h.checkOne(w, r, x, status || x.parsed.status)
	}
}

// statusOption reads ?status=429.
func statusOption(r *http.Request) (bool, *Problem) {
	if r.URL.RawQuery == "" {
		return false, nil
	}
	query, p := queryOf(r, "status")
	if p != nil {
		return false, p
	}
	if query.Get("status") != "429" {
		return false, at("status", "is not understood", "?status=429 answers a denial with that status")
	}
	return true, nil
}

func (h *handler) checkOne(w http.ResponseWriter, r *http.Request, x *exchange, status bool) {
	d, err := h.backend.Engine().Check(r.Context(), x.parsed.items[0].request)
	if err != nil {
		fail(w, undecided(err))
		return
	}
	h.annotate(r, &d)
	code := http.StatusOK
	if status && !d.Allowed {
		code = http.StatusTooManyRequests
		h.tell()(w.Header(), d)
	}
	x.out = append(appendDecision(x.out[:0], &d), '\n')
	send(w, code, x.out)
}
