package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store"
)

// Problem is the body of every answer that is an error, as application/problem+json
// (RFC 9457).
type Problem struct {
	Type     string        `json:"type"` // urn:sluice:problem: and a word that does not change
	Title    string        `json:"title"`
	Status   int           `json:"status"`
	Detail   string        `json:"detail"`             // what is wrong with this request
	Hint     string        `json:"hint,omitempty"`     // what to do
	Field    string        `json:"field,omitempty"`    // of the body or the query that is at fault
	Problems []RuleProblem `json:"problems,omitempty"` // of rules that could not be loaded
}

const problemTypes = "urn:sluice:problem:"

// problem makes a Problem whose title is that of its status.
func problem(status int, word, detail, hint string) *Problem {
	return &Problem{
		Type: problemTypes + word, Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint,
	}
}

// at is a problem with one field.
func at(field, detail, hint string) *Problem {
	p := problem(http.StatusBadRequest, "invalid-field", field+": "+detail, hint)
	p.Field = field
	return p
}

func invalidBody(detail, hint string) *Problem {
	return problem(http.StatusBadRequest, "invalid-body", detail, hint)
}

func notFound(path string) *Problem {
	return problem(http.StatusNotFound, "not-found", fmt.Sprintf("there is nothing at %.200q", path),
		"GET /v1/openapi.json lists all endpoints")
}

func notAllowed(r *http.Request, allow string) *Problem {
	return problem(http.StatusMethodNotAllowed, "method-not-allowed",
		fmt.Sprintf("%.20s is not a method of %.200q", r.Method, r.URL.Path), "use "+allow)
}

func unauthorized(r *http.Request) *Problem {
	detail := "the token is not one of this server's"
	if _, ok := bearer(r); !ok {
		detail = "this needs a token"
	}
	return problem(http.StatusUnauthorized, "unauthorized", detail, "send the header field Authorization: Bearer TOKEN")
}

func crossOrigin() *Problem {
	return problem(http.StatusForbidden, "cross-origin", "a browser sent this on behalf of another site",
		"call the server from your own backend")
}

func unknownHost(r *http.Request) *Problem {
	return problem(http.StatusForbidden, "unknown-host", fmt.Sprintf("a server without tokens does not answer to the name %.100q", r.Host),
		"use localhost or the server's IP address, or set tokens")
}

// Why something else is busy.
const (
	filesBusy   = "other rule files are being worked on"
	recordsBusy = "other records are being sent"
)

func busy(why string) *Problem {
	return problem(http.StatusServiceUnavailable, "busy", why, "try again in a second")
}

func internal() *Problem {
	return problem(http.StatusInternalServerError, "internal", "the server failed", "its log says why; please report it")
}

// undecided words an error of the engine.
func undecided(err error) *Problem {
	switch {
	case errors.Is(err, store.ErrKey):
		return problem(http.StatusBadRequest, "invalid-key", err.Error(),
			"what the rule's key is made of is too long: shorten it, or let the rule hash its key")
	case errors.Is(err, store.ErrCost):
		return at("cost", err.Error(), "a cost is a whole number up to 1e15")
	case errors.Is(err, store.ErrID):
		return at("id", err.Error(), "use the id that /v1/reserve returned")
	case errors.Is(err, store.ErrOp), errors.Is(err, store.ErrTooMany):
		return problem(http.StatusBadRequest, "not-supported", err.Error(), "POST /v1/explain shows the limits that the request meets")
	case errors.Is(err, sluice.ErrSettled):
		return problem(http.StatusConflict, "settled", "this reservation is settled or expired, or was made for another request",
			"a reservation can be settled once, within an hour, with the same request")
	case errors.Is(err, context.Canceled):
		return problem(http.StatusServiceUnavailable, "canceled", "the connection was given up before this was decided",
			"keep it open until the answer; a part may be spent")
	case errors.Is(err, context.DeadlineExceeded):
		return problem(http.StatusServiceUnavailable, "timeout", "it took too long: "+err.Error(), "try again later")
	}
	return problem(http.StatusServiceUnavailable, "unavailable", err.Error(),
		"the store cannot be asked: see /readyz and the server's log")
}

// fail answers with a problem, also when the request's context is over: that happens
// to a client that still listens if its body came to an early end, and a handler that
// writes nothing has said 200.
func fail(w http.ResponseWriter, p *Problem) {
	header := w.Header()
	header["Content-Type"] = []string{"application/problem+json"}
	header["Cache-Control"] = noStore
	header["X-Content-Type-Options"] = noSniff
	if p.Status == http.StatusServiceUnavailable {
		header["Retry-After"] = []string{"1"}
	}
	body := marshal(p)
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client may be gone
}
