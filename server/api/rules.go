package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
)

// rules shows what is in force.
func (h *handler) rules(w http.ResponseWriter, r *http.Request) {
	if _, p := queryOf(r); p != nil {
		fail(w, p)
		return
	}
	config, version := h.backend.Rules()
	reply := Rules{
		Version: version, ShadowAll: h.backend.Engine().ShadowedAll(), Default: config.Default, Paths: config.Paths, Rules: config.Rules,
	}
	if reply.Default == "" {
		reply.Default = rule.Allow
	}
	if reply.Rules == nil {
		reply.Rules = []rule.Rule{}
	}
	answer(w, reply)
}

// rule shows one rule and its counts.
func (h *handler) rule(w http.ResponseWriter, r *http.Request) {
	if _, p := queryOf(r); p != nil {
		fail(w, p)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, namedRules)
	config, _ := h.backend.Rules()
	for i := range config.Rules {
		if config.Rules[i].Name == name {
			answer(w, RuleDetail{Rule: config.Rules[i], Stats: h.statsOf(name)})
			return
		}
	}
	fail(w, problem(http.StatusNotFound, "not-found", fmt.Sprintf("there is no rule %.100q", name), "GET /v1/rules lists all"))
}

// yamlTypes are the types of a rule file. Plain text and forms are not among them, so
// that no page in a browser can send one on its own.
var yamlTypes = []string{"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "application/json"}

// validate tells what is wrong with a rule file.
func (h *handler) validate(w http.ResponseWriter, r *http.Request) {
	x := h.begin()
	defer h.end(x)
	_, p := queryOf(r)
	if p == nil {
		p = h.read(x, r, yamlTypes...)
	}
	if p == nil && len(x.body) == 0 {
		p = invalidBody("the body is empty", "send the text of a rule file")
	}
	if p != nil {
		fail(w, p)
		return
	}
	if !h.compiling.begin() {
		fail(w, busy(filesBusy))
		return
	}
	defer h.compiling.end()
	ctx, cancel := context.WithTimeout(r.Context(), h.options.Timeout)
	defer cancel()
	err := h.backend.Validate(ctx, x.body)
	if ctx.Err() != nil {
		fail(w, undecided(ctx.Err()))
		return
	}
	found, bad := problemsOf(err)
	answer(w, Validation{Valid: !bad, Problems: found})
}

// few are places for what takes far more time and memory than a decision: decisions must
// go on.
type few chan struct{}

// begin takes a place, if there is one. Nobody waits for it, since who waits holds memory
// too.
func (f few) begin() bool {
	select {
	case f <- struct{}{}:
		return true
	default:
		return false
	}
}

func (f few) end() { <-f }

// problemsOf lists what an error says about rules. It is bad if not all are warnings.
func problemsOf(err error) (found []RuleProblem, bad bool) {
	found = []RuleProblem{}
	var problems rulefile.Problems
	switch {
	case err == nil:
		return found, false
	case !errors.As(err, &problems):
		return append(found, RuleProblem{Reason: err.Error()}), true
	}
	for _, p := range problems {
		found = append(found, RuleProblem{
			File: p.File, Line: p.Line, Column: p.Column, Rule: p.Rule, Field: p.Field,
			Reason: p.Reason, Hint: p.Hint, Warning: p.Warning,
		})
		bad = bad || !p.Warning
	}
	return found, bad
}

// reload reads the rules again.
func (h *handler) reload(w http.ResponseWriter, r *http.Request) {
	h.change(w, r, h.backend.Reload, func(err error) *Problem {
		p := problem(http.StatusUnprocessableEntity, "invalid-rules", "the rules could not be loaded; those in force stay",
			"correct the file and reload; POST /v1/rules/validate tells the same without loading")
		p.Problems, _ = problemsOf(err)
		return p
	})
}

// rollback puts the rules in force again that were before.
func (h *handler) rollback(w http.ResponseWriter, r *http.Request) {
	h.change(w, r, h.backend.Rollback, func(err error) *Problem {
		if !errors.Is(err, ErrNoPrevious) {
			return undecided(err)
		}
		return problem(http.StatusConflict, "no-previous", "there are no rules to go back to: "+err.Error(), "correct the file and reload")
	})
}

// change puts other rules in force, and tells what that changed.
func (h *handler) change(w http.ResponseWriter, r *http.Request, f func(ctx context.Context, source string) (Change, error), wrong func(error) *Problem) {
	if _, p := queryOf(r); p != nil {
		fail(w, p)
		return
	}
	if !h.compiling.begin() {
		fail(w, busy(filesBusy))
		return
	}
	defer h.compiling.end()
	ctx, cancel := context.WithTimeout(r.Context(), h.options.Timeout)
	defer cancel()
	change, err := f(ctx, sourceOf(r))
	switch {
	case err != nil && ctx.Err() != nil:
		fail(w, undecided(ctx.Err()))
	case err != nil:
		fail(w, wrong(err))
	default:
		lines := change.Lines
		if lines == nil {
			lines = []string{}
		}
		answer(w, Reloaded{Before: change.Before, After: change.After, Changes: lines})
	}
}

// shadowAll is the switch that turns every rule to shadow, or back.
func (h *handler) shadowAll(w http.ResponseWriter, r *http.Request) {
	x := h.begin()
	defer h.end(x)
	_, p := queryOf(r)
	if p == nil {
		p = h.read(x, r, jsonType)
	}
	var body struct {
		On *bool `json:"on"` // a body without it is a mistake, not "off"
	}
	if p == nil {
		p = decodeStrict(x.body, &body)
	}
	if p == nil && body.On == nil {
		p = at("on", "is missing", `send {"on":true} or {"on":false}`)
	}
	if p != nil {
		fail(w, p)
		return
	}
	h.backend.ShadowAll(r.Context(), *body.On, sourceOf(r))
	answer(w, ShadowAll{On: h.backend.Engine().ShadowedAll()})
}

// sourceOf says who asked, for the audit log.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || host == "" { // such as at a Unix socket
		return "api"
	}
	return "api from " + host
}
