package sluiceclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Errors to match with errors.Is.
var (
	// ErrSettled means that a reservation was settled before, has expired, or was made
	// for another request.
	ErrSettled = errors.New("sluiceclient: reservation is settled or expired")
	// ErrUnauthorized means that the server wants another token.
	ErrUnauthorized = errors.New("sluiceclient: token is missing or not the server's")
)

// Error is what the server said instead of an answer: a problem (RFC 9457).
type Error struct {
	Status     int
	Type       string // urn:sluice:problem: and a word that does not change
	Title      string
	Detail     string
	Hint       string        // what to do; may be empty
	Field      string        // of the request that is at fault; may be empty
	RetryAfter time.Duration // what the server asks for; 0 if it does not
}

func (e *Error) Error() string {
	text := fmt.Sprintf("status %d: %s", e.Status, e.Detail)
	if e.Detail == "" {
		text = fmt.Sprintf("status %d: %s", e.Status, http.StatusText(e.Status))
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Is matches [ErrSettled] and [ErrUnauthorized].
func (e *Error) Is(target error) bool {
	switch target {
	case ErrSettled:
		return e.Status == http.StatusConflict && strings.HasSuffix(e.Type, ":settled")
	case ErrUnauthorized:
		return e.Status == http.StatusUnauthorized
	}
	return false
}

// problemOf reads an answer that is an error. One that is not the server's own, but
// perhaps that of a proxy, is told by its status alone.
func problemOf(res *http.Response, answer []byte) *Error {
	var wire struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Hint   string `json:"hint"`
		Field  string `json:"field"`
	}
	e := &Error{Status: res.StatusCode}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") && json.Unmarshal(answer, &wire) == nil {
		e.Type, e.Title, e.Detail, e.Hint, e.Field = wire.Type, wire.Title, wire.Detail, wire.Hint, wire.Field
	}
	if seconds, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 31); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
