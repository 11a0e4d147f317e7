package api

import (
	"net/http"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/audit"
)

// How many are shown if the query does not say, and at most.
const (
	fewShown  = 20
	manyShown = 1000
)

// stats shows what was counted, and the busiest routes without a rule.
func (h *handler) stats(w http.ResponseWriter, r *http.Request) {
	n, p := h.shown(r, "uncovered", fewShown)
	if p != nil {
		fail(w, p)
		return
	}
	e := h.backend.Engine()
	s := e.Stats()
	reply := Stats{
		Requests: s.Requests, Allowed: s.Allowed, Denied: s.Denied, Errors: s.Errors, Shadow: s.Shadow,
		Degraded: s.Degraded, NoRule: s.NoRule, ShadowAll: e.ShadowedAll(),
		Rules: make([]RuleStats, len(s.Rules)), Uncovered: []Route{},
	}
	for i := range s.Rules {
		reply.Rules[i] = RuleStats(s.Rules[i])
	}
	for _, route := range e.Uncovered(n) {
		reply.Uncovered = append(reply.Uncovered, Route(route))
	}
	answer(w, reply)
}

// statsOf returns the counts of one rule.
func (h *handler) statsOf(name string) RuleStats {
	for _, s := range h.backend.Engine().Stats().Rules {
		if s.Rule == name {
			return RuleStats(s)
		}
	}
	return RuleStats{Rule: name}
}

// shown reads the only parameter of a query: how many.
func (h *handler) shown(r *http.Request, name string, fallback int) (int, *Problem) {
	query, p := queryOf(r, name)
	if p != nil {
		return 0, p
	}
	return number(query, name, fallback, manyShown)
}

// top shows the busiest keys.
func (h *handler) top(w http.ResponseWriter, r *http.Request) {
	query, p := queryOf(r, "by", "n")
	n := 0
	if p == nil {
		n, p = number(query, "n", fewShown, manyShown)
	}
	reply, by := Top{By: query.Get("by"), Keys: []TopKey{}}, engine.ByRequests
	switch reply.By {
	case "":
		reply.By = "requests"
	case "requests":
	case "denials":
		by = engine.ByDenials
	default:
		p = at("by", "is not understood", "give requests or denials")
	}
	if p != nil {
		fail(w, p)
		return
	}
	for _, k := range h.backend.Engine().Top(by, n) {
		reply.Keys = append(reply.Keys, TopKey(k))
	}
	answer(w, reply)
}

// decisions shows the last refusals.
func (h *handler) decisions(w http.ResponseWriter, r *http.Request) {
	query, p := queryOf(r, "n", "rule")
	n := 0
	if p == nil {
		n, p = number(query, "n", fewShown, manyShown)
	}
	if p != nil {
		fail(w, p)
		return
	}
	reply := Records{Decisions: []Record{}}
	for _, d := range h.backend.Engine().Recent(engine.RecentSize) {
		if query.Has("rule") && query.Get("rule") != d.Rule {
			continue
		}
		if len(reply.Decisions) == n {
			break
		}
		reply.Decisions = append(reply.Decisions, Record{
			Time: d.Time, Shadow: d.Shadow, Rule: d.Rule, Limit: d.Limit, Key: d.Key, Method: d.Method, Path: d.Path,
			Reason: d.Reason.String(), RetryAfterMS: milliseconds(d.RetryAfter),
		})
	}
	answer(w, reply)
}

// audit shows the last changes.
func (h *handler) audit(w http.ResponseWriter, r *http.Request) {
	n, p := h.shown(r, "n", fewShown)
	if p != nil {
		fail(w, p)
		return
	}
	reply := Audit{Entries: h.backend.Audit(n)}
	if reply.Entries == nil {
		reply.Entries = []audit.Entry{}
	}
	answer(w, reply)
}
