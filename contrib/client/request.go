package sluiceclient

// Request is what the caller knows of a request; rules look at it.
type Request struct {
	Method     string            `json:"method,omitempty"`
	Host       string            `json:"host,omitempty"`       // with or without port
	Path       string            `json:"path,omitempty"`       // as the client sent it, still encoded; the query may follow it
	Query      string            `json:"query,omitempty"`      // still encoded, without the question mark
	IP         string            `json:"ip,omitempty"`         // of the client
	User       string            `json:"user,omitempty"`       // who it is, after authentication
	Headers    map[string]string `json:"headers,omitempty"`    // those that rules look at; names in any case, each once
	Attributes map[string]string `json:"attributes,omitempty"` // anything else that rules ask for
	Cost       int64             `json:"cost,omitempty"`       // overrides what the rules say, if above 0
	Length     int64             `json:"length,omitempty"`     // of the body in bytes; -1 if it is not known
}

// commitRequest is the body of a commit.
type commitRequest struct {
	Request
	ID     string `json:"id"`
	Actual int64  `json:"actual"`
}

type batchRequest struct {
	Requests []Request `json:"requests"`
}
