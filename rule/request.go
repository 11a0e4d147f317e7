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
	Cost       int64             // overrides what the rules say, if above 0; below 0 is an error of the caller
}

// Getter finds the first value of a name, or "". http.Header and url.Values are such.
//
// A request may have several Cookie lines. A Getter that is no http.Header has to tell
// all of them: by a method Values(name string) []string, or joined by "; " as the
// value of Cookie.
type Getter interface{ Get(name string) string }

// CanonicalHost returns a host as rules compare it: in lower case, without port and
// without the dot at the end. An IPv6 address stands in brackets.
func CanonicalHost(host string) string { return canonicalHost(host) }

// CanonicalPath returns a path as rules compare it, with case folded if fold is set:
// see [Paths]. ambiguous tells that servers read it in different ways; it is then what
// one that decodes everything would see.
func CanonicalPath(path string, fold bool) (canonical string, ambiguous bool) {
	canonical, _, ambiguous = canonicalPath(path, fold, nil)
	return canonical, ambiguous
}
