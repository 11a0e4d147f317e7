package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/audit"
)

var rewrite = flag.Bool("rewrite", false, "write openapi.json anew")

// operation is what the document says of one endpoint, beside the route itself.
type operation struct {
	id, summary string
	query       map[string]string
	body        any
	replies     []any // none: status 204
	kind        string
	yaml        bool
}

var operations = map[string]operation{
	"POST /v1/check": {
		id: "check", summary: "Decide one request, or a batch of up to 1,000, and spend their cost",
		query: map[string]string{"status": "429: answer a denial of a single request with that status and header fields"},
		body:  CheckRequest{}, replies: []any{Decision{}, Decisions{}},
	},
	"POST /v1/explain": {id: "explain", summary: "Tell what would happen to a request and why, and spend nothing", body: Request{}, replies: []any{Explanation{}}},
	"POST /v1/peek":    {id: "peek", summary: "Tell what a check would, and spend nothing", body: Request{}, replies: []any{Decision{}}},
	"POST /v1/reset":   {id: "reset", summary: "Forget what was spent by the keys of a request", body: Request{}},
	"POST /v1/refund":  {id: "refund", summary: "Give cost back to the keys of a request", body: Request{}},
	"POST /v1/reserve": {id: "reserve", summary: "Spend the cost of a request as an estimate", body: Request{}, replies: []any{Reservation{}}},
	"POST /v1/commit":  {id: "commit", summary: "Say what a request really took that was reserved for", body: CommitRequest{}},
	"GET /v1/rules":    {id: "rules", summary: "Show the rules in force", replies: []any{Rules{}}},
	"GET /v1/rules/{name}": {
		id: "rule", summary: "Show one rule and its counts; slashes in its name stay as they are", replies: []any{RuleDetail{}},
	},
	"GET /v1/rules/{name}/preview": {
		id: "preview", summary: "Tell what another limit would have done to the last requests of a rule",
		query: map[string]string{"limit": "such as 50/s, 100/m burst=20 or sliding_log 60/m; the limits in force if not given"}, replies: []any{Preview{}},
	},
	"GET /v1/rules/{name}/record": {
		id: "record", summary: "Send the last requests that a rule decided: when (µs since 1970), by whom (hashed) and for how much", kind: "text/csv",
	},
	"POST /v1/rules/validate": {id: "validate", summary: "Tell what is wrong with a rule file", yaml: true, replies: []any{Validation{}}},
	"POST /v1/reload":         {id: "reload", summary: "Read the rules again", replies: []any{Reloaded{}}},
	"POST /v1/rules/rollback": {id: "rollback", summary: "Put the rules in force again that were before the last change", replies: []any{Reloaded{}}},
	"PUT /v1/shadow-all":      {id: "shadowAll", summary: "Turn every rule to shadow, or back", body: ShadowAll{}, replies: []any{ShadowAll{}}},
	"GET /v1/stats": {
		id: "stats", summary: "Show what was counted, and the busiest routes without a rule",
		query: map[string]string{"uncovered": "how many routes without a rule, 1 to 1000; 20 if not given"}, replies: []any{Stats{}},
	},
	"GET /v1/top": {
		id: "top", summary: "Show the busiest keys",
		query: map[string]string{"by": "requests or denials; requests if not given", "n": "how many, 1 to 1000; 20 if not given"}, replies: []any{Top{}},
	},
	"GET /v1/decisions": {
		id: "decisions", summary: "Show the last refusals and shadow refusals",
		query: map[string]string{"n": "how many, 1 to 1000; 20 if not given", "rule": "only those of this rule"}, replies: []any{Records{}},
	},
	"GET /v1/audit": {
		id: "audit", summary: "Show the last changes", query: map[string]string{"n": "how many, 1 to 1000; 20 if not given"}, replies: []any{Audit{}},
	},
	"GET /v1/events":       {id: "events", summary: "Send changes as they happen: server-sent events named change, with an audit entry as data", kind: "text/event-stream"},
	"GET /v1/openapi.json": {id: "openapi", summary: "This document", kind: "application/json"},
	"GET /healthz":         {id: "health", summary: "Say that the process answers", replies: []any{Health{}}},
	"GET /readyz":          {id: "ready", summary: "Say whether requests can be decided", replies: []any{Health{}}},
	"GET /metrics":         {id: "metrics", summary: "Metrics for Prometheus", kind: "text/plain"},
}

// extra are types that no answer names, but that are part of what is sent.
var extra = []any{audit.Entry{}, Problem{}}

type object = map[string]any

// allRoutes are those of a handler with metrics.
func allRoutes(t *testing.T) []route {
	return New(newFake(t, sample, nil), Options{Metrics: http.NotFoundHandler()}).(*handler).routes()
}

// generate writes the document from the routes and the wire types.
func generate(t *testing.T) []byte {
	g := newGenerator(t)
	paths := object{}
	for _, r := range allRoutes(t) {
		o, ok := operations[r.method+" "+r.path]
		if !ok {
			t.Fatalf("%s %s has no description", r.method, r.path)
		}
		if paths[r.path] == nil {
			paths[r.path] = object{}
		}
		paths[r.path].(object)[strings.ToLower(r.method)] = g.operation(r, o)
	}
	for _, v := range extra {
		g.schema(reflect.TypeOf(v))
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "sluice", "version": "v1",
			"description": "Rate limits for everything that can send HTTP. Unknown fields are errors; errors are application/problem+json.",
		},
		"paths": paths,
		"components": object{
			"schemas":         g.schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "Needed if the server has tokens."}},
		},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOpenAPIIsFresh(t *testing.T) {
	want := generate(t)
	if *rewrite {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(document, want) {
		t.Error("openapi.json is not what routes and types say: run go test ./api -run TestOpenAPIIsFresh -rewrite")
	}
}

// parsedDocument is what of the document can be compared.
type parsedDocument struct {
	Paths      map[string]map[string]struct{ OperationID string }
	Components struct {
		Schemas map[string]struct {
			Properties           map[string]any
			Required             []string
			AdditionalProperties any
		}
	}
}

// TestOpenAPI: the document that is served names every route and every field that is
// sent, and nothing else.
func TestOpenAPI(t *testing.T) {
	w := ask(New(newFake(t, sample, nil), Options{}), "GET", "/v1/openapi.json", "")
	var d parsedDocument
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for path, methods := range d.Paths {
		for method := range methods {
			got = append(got, strings.ToUpper(method)+" "+path)
		}
	}
	for _, r := range allRoutes(t) {
		want = append(want, r.method+" "+r.path)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("routes:\n got %v\nwant %v", got, want)
	}
	types := map[string]any{
		"Request": Request{}, "CheckRequest": CheckRequest{}, "CommitRequest": CommitRequest{}, "Decision": Decision{}, "Decisions": Decisions{},
		"Reservation": Reservation{}, "Explanation": Explanation{}, "RuleExplanation": RuleExplanation{}, "LimitExplanation": LimitExplanation{},
		"Rules": Rules{}, "RuleDetail": RuleDetail{}, "Validation": Validation{}, "RuleProblem": RuleProblem{}, "Reloaded": Reloaded{},
		"ShadowAll": ShadowAll{}, "Stats": Stats{}, "RuleStats": RuleStats{}, "Route": Route{}, "Top": Top{}, "TopKey": TopKey{},
		"Records": Records{}, "Record": Record{}, "Audit": Audit{}, "Health": Health{}, "Problem": Problem{}, "Version": Version{},
		"Entry": audit.Entry{}, "Rule": rule.Rule{}, "Match": rule.Match{}, "Skip": rule.Skip{}, "Limit": rule.Limit{}, "Cost": rule.Cost{},
		"Override": rule.Override{}, "Paths": rule.Paths{}, "Preview": Preview{}, "PreviewOutcome": PreviewOutcome{},
	}
	if got, want := slices.Sorted(maps.Keys(d.Components.Schemas)), slices.Sorted(maps.Keys(types)); !slices.Equal(got, want) {
		t.Errorf("schemas:\n got %v\nwant %v", got, want)
	}
	for name, v := range types {
		s := d.Components.Schemas[name]
		fields := slices.Sorted(slices.Values(fieldsOf(reflect.TypeOf(v)).names))
		if got := slices.Sorted(maps.Keys(s.Properties)); !slices.Equal(got, fields) {
			t.Errorf("%s:\n got %v\nwant %v", name, got, fields)
		}
		if s.AdditionalProperties != false {
			t.Errorf("%s may have other fields", name)
		}
	}
}
