// Package rule says who is limited, where, how much, and what then.
//
// A [Config] holds rules as plain data: Go structs that read and write JSON. Compile
// checks them and makes an immutable [Set], which finds the rules that a request
// matches by an index, so that it takes no longer with a thousand rules than with
// ten. A request has to pass every rule that it matches.
package rule

import "github.com/sluice-limiter/sluice"

// Config is what a rule file holds.
type Config struct {
	Default Default `json:"default,omitempty"` // what happens to a request that no rule matches
	Paths   Paths   `json:"paths,omitzero"`    // how paths are read
	Rules   []Rule  `json:"rules"`
}

// Rule says to whom and where limits apply.
type Rule struct {
	// Name tells rules apart, in headers, metrics and at the store: letters, digits
	// and _ . - / only. A rule with another name starts with fresh budgets.
	Name string `json:"name"`

	Match Match `json:"match,omitzero"` // empty matches everything
	Skip  Skip  `json:"skip,omitzero"`  // who is exempt

	// Key lists what makes up the key: ip, ip/56 (the prefix of IPv6 addresses; 64 if
	// not given), user, host, method, path, header:NAME, cookie:NAME, path:VARIABLE,
	// query:NAME, attribute:NAME, const:TEXT. Empty means one budget for all.
	Key     []string `json:"key,omitempty"`
	Missing Missing  `json:"missing,omitempty"` // what happens if a part of the key is missing
	Hash    bool     `json:"hash,omitempty"`    // the key is hashed before it reaches store, logs and metrics; see HashKey
	Tag     string   `json:"tag,omitempty"`     // a part of Key, or const:TEXT: in Redis Cluster, all keys with the same one lie in one slot; see TagOf

	Limits []Limit  `json:"limits"`          // all of them have to allow
	Scope  Scope    `json:"scope,omitempty"` // of limits that name none
	Cost   Cost     `json:"cost,omitzero"`
	Wait   Duration `json:"wait,omitempty"` // hold a request for up to so long instead of refusing it

	OnStoreError OnStoreError `json:"on_store_error,omitempty"`
	Headers      Headers      `json:"headers,omitempty"` // what clients are told; empty means what the door does by default

	Mode      Mode    `json:"mode,omitempty"`
	Rollout   string  `json:"rollout,omitempty"`   // "10%": enforced for a stable share of the keys, shadow for the others
	Candidate []Limit `json:"candidate,omitempty"` // measured beside the limits, never refusing

	Overrides []Override `json:"overrides,omitempty"` // other limits for some keys; the first that fits counts
}

// Match says which requests a rule is for. Of the entries of one field any has to
// fit, and of the fields all. A rule without any matches every request.
type Match struct {
	Methods    []string          `json:"methods,omitempty"`    // GET is for HEAD too, which servers answer by the same handler
	Hosts      []string          `json:"hosts,omitempty"`      // api.example.com, or *.example.com for all below it; without port
	Paths      []string          `json:"paths,omitempty"`      // /login, /users/{id}/orders, or /api/* for /api and all below it
	Headers    map[string]string `json:"headers,omitempty"`    // * means: has the header
	IPs        []string          `json:"ips,omitempty"`        // addresses and prefixes of the client
	Attributes map[string]string `json:"attributes,omitempty"` // what the caller supplies; * means: has the attribute
	When       string            `json:"when,omitempty"`       // an expression; see Conditions
}

// Skip says who is exempt from a rule: whoever fits one of these.
type Skip struct {
	IPs     []string          `json:"ips,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Keys    []KeyValues       `json:"keys,omitempty"`
}

// KeyValues are the values of all parts of a key, in the order of Rule.Key; *
// stands for any. A key of one part may be written as plain text in JSON.
type KeyValues []string

// Limit is one limit of a rule. In JSON it may be the limit's text alone: see ParseLimit.
type Limit struct {
	Name  string       `json:"name,omitempty"` // in headers and explanations; the rule's name if not given
	Limit sluice.Limit `json:"limit"`
	Scope Scope        `json:"scope,omitempty"` // the rule's if not given
}

// Override gives some keys other limits: this customer gets ten times as much.
type Override struct {
	Keys   []KeyValues `json:"keys"`
	Limits []Limit     `json:"limits"`
}

// Cost says how much a request takes. In JSON a constant may be a plain number.
// The first that applies counts: Header, Bytes, Methods, Fixed. A header that is no
// number, or 0, makes it Fixed; one that is negative or above 1e15 makes it the most
// that can be: Max, or 1e15 without that.
type Cost struct {
	Fixed   int64            `json:"fixed,omitempty"`   // 1 if not given
	Methods map[string]int64 `json:"methods,omitempty"` // by method; HEAD costs what GET does if it is not named
	Bytes   int64            `json:"bytes,omitempty"`   // one for every so many bytes of the body, rounded up
	Header  string           `json:"header,omitempty"`  // a request header with the cost: only if whoever sets it is trusted
	Max     int64            `json:"max,omitempty"`     // the most that Header or Bytes can make it, and the cost of a body of unknown length

	// Response names a response header with what the request really took. What is
	// taken before is an estimate that is settled then.
	Response string `json:"response,omitempty"`
}

// Default says what happens to a request that no rule matches.
type Default string

// Defaults. The empty one is Allow.
const (
	Allow Default = "allow"
	Deny  Default = "deny"
)

// Scope says who shares a limit.
type Scope string

// Scopes. The empty one is Cluster.
const (
	Cluster  Scope = "cluster"  // one budget for the fleet
	Instance Scope = "instance" // each process its own
	Split    Scope = "split"    // the fleet's budget divided by the number of live instances
)

// Mode says whether a rule refuses.
type Mode string

// Modes. The empty one is Enforce.
const (
	Enforce Mode = "enforce"
	Shadow  Mode = "shadow" // decided and reported, never refused
	Off     Mode = "off"
)

// Missing says what happens if a part of the key is missing.
type Missing string

// What a missing part means. The empty one is MissingSkip.
const (
	MissingSkip   Missing = "skip"   // the rule does not apply
	MissingShared Missing = "shared" // all requests without it share one budget
	MissingDeny   Missing = "deny"
)

// OnStoreError says what decides while the store cannot be asked.
type OnStoreError string

// What decides instead of the store. The empty one is ErrorLocal.
const (
	ErrorLocal OnStoreError = "local" // this instance's share
	ErrorAllow OnStoreError = "allow"
	ErrorDeny  OnStoreError = "deny"
)

// Headers names a dialect of the header fields that tell clients of their limits.
type Headers string

// Dialects. The empty one is what the door is set to.
const (
	HeadersDraft10 Headers = "draft-10" // RateLimit and RateLimit-Policy as lists: drafts 08 to 10
	HeadersDraft11 Headers = "draft-11" // the same with the parameters a and w
	HeadersDraft07 Headers = "draft-07" // RateLimit: limit=, remaining=, reset=
	HeadersDraft06 Headers = "draft-06" // RateLimit-Limit, -Remaining, -Reset: drafts 03 to 06
	HeadersLegacy  Headers = "legacy"   // X-RateLimit-Limit, -Remaining, -Reset
	HeadersNone    Headers = "none"
)

// Paths says how paths are read before they are compared. They are always decoded
// once, freed of dot segments, and of double and trailing slashes; no path at all is
// the root. What is escaped twice is taken as the text that one decoding leaves:
// %252e is no dot. A literal percent sign, question mark or number sign is written
// %25, %3f or %23, in rules too. What stands after a question mark is no path.
type Paths struct {
	// Ambiguous says what happens to a path that servers read in different ways: an
	// encoded slash or backslash, a backslash, a semicolon, a NUL, a fragment, text that
	// is not UTF-8, a broken escape, a ".." above the root, no slash at the beginning.
	//
	// "reject", the default, denies it if a rule depends on the path that would apply
	// but for that: everything else that it asks for fits, the client is not exempt, and
	// it is enforced. Rules that are not enforced only report it; those that do not
	// depend on the path (neither by match, nor by key) decide as always. "decode" takes
	// the path as decoded.
	Ambiguous string `json:"ambiguous,omitempty"`
	FoldCase  bool   `json:"fold_case,omitempty"` // /Login is /login
}
