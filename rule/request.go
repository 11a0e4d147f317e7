package rule

import "net/netip"

// Request is what rules look at. Doors fill in what they know.
type Request struct {
	Method string
	Host   string // with or without port
	Path   string // as the client sent it, still encoded and without the query
	Query  string // still encoded
	IP     netip.Addr
	User   string // who it is, after authentication
	Header Getter // of the request; may be nil; http.Header is one

	Attributes map[string]string // anything else that the caller knows
	Length     int64             // of the body in bytes; -1 if it is not known
	Cost       int64             // overrides what the rules say, if above 0
}

// Getter finds the first value of a name, or "". http.Header and url.Values are such.
type Getter interface{ Get(name string) string }
