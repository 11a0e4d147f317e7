package httplimit

import (
	"net/http"
	"strconv"
	"time"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// Option sets up [ByIP], [Middleware] and [Rules].
type Option interface {
	KeyedOption
	RulesOption
}

// KeyedOption sets up [ByIP] and [Middleware].
type KeyedOption interface{ applyKeyed(*config) }

// RulesOption sets up [Rules].
type RulesOption interface{ applyRules(*config) }

// AddressOption says where the client's address is to be found, if not at the other
// end of the connection. It is an [Option], and what [ClientAddress] takes. At most
// one can be given.
type AddressOption func(*config)

func (o AddressOption) applyKeyed(c *config) { o(c) }
func (o AddressOption) applyRules(c *config) { o(c) }

type option func(*config)

func (o option) applyKeyed(c *config) { o(c) }
func (o option) applyRules(c *config) { o(c) }

type keyedOption func(*config)

func (o keyedOption) applyKeyed(c *config) { o(c) }

type rulesOption func(*config)

func (o rulesOption) applyRules(c *config) { o(c) }

// config is what options set.
type config struct {
	source         source
	ipv6Bits       int
	dialect        rule.Headers
	jitter         float64
	decided        func(*http.Request, engine.Decision)
	denied         func(http.ResponseWriter, *http.Request, engine.Decision)
	onError        func(http.ResponseWriter, *http.Request, error) bool
	health         []string
	free           func(*http.Request) bool
	countPreflight bool
	noPage         bool
	costBy         func(*http.Request) int64

	keyBy      func(*http.Request) (string, error)
	names      []string
	wait       time.Duration
	maxWaiters int64

	user       func(*http.Request) string
	attributes func(*http.Request) map[string]string

	subrequests bool
}

func newConfig() config {
	return config{ipv6Bits: 64, dialect: rule.HeadersDraft10, maxWaiters: 10_000}
}

// Headers selects the header fields that tell clients of their limits; without it
// they are RateLimit and RateLimit-Policy of draft 10. A rule can have others.
func Headers(dialect rule.Headers) Option {
	mustKnow("Headers", dialect)
	return option(func(c *config) { c.dialect = dialect })
}

// Jitter adds up to this fraction of itself to Retry-After, so that clients that were
// refused together do not come back together. It must be from 0 to 1.
func Jitter(fraction float64) Option {
	if !(fraction >= 0 && fraction <= 1) {
		panic("httplimit: Jitter: the fraction must be from 0 to 1")
	}
	return option(func(c *config) { c.jitter = fraction })
}

// NoPage refuses browsers as it refuses everybody else: with application/problem+json,
// and not with the page that waits.
func NoPage() Option {
	return option(func(c *config) { c.noPage = true })
}

// Denied answers refused requests instead of the usual reply. The header fields are
// set already; [Status] returns the usual status.
func Denied(answer func(w http.ResponseWriter, r *http.Request, d engine.Decision)) Option {
	return option(func(c *config) { c.denied = answer })
}

// Decided is told of every decision, before the request goes on or is refused: for logs
// and spans.
func Decided(f func(r *http.Request, d engine.Decision)) Option {
	return option(func(c *config) { c.decided = f })
}

// OnError is asked when a request could not be decided, because the store failed and
// no policy says what then. It returns true if the request is to go ahead, or answers
// it. Without OnError it is refused with status 503. What is wrong with the request
// itself never gets here, so that it is no way round a limit.
func OnError(handle func(w http.ResponseWriter, r *http.Request, err error) (proceed bool)) Option {
	return option(func(c *config) { c.onError = handle })
}

// FailOpen lets requests that could not be decided go ahead: OnError(FailOpen).
func FailOpen(http.ResponseWriter, *http.Request, error) (proceed bool) { return true }

// CostBy takes the cost of a request from f; without it that is 1, or what the rules
// say. A cost of 0 spends nothing, and a negative one is refused; with rules, both
// leave it to the rules.
func CostBy(f func(*http.Request) int64) Option {
	return option(func(c *config) { c.costBy = f })
}

// IPv6Prefix makes the network of so many bits the key of a client with an IPv6
// address; 64 if not given, since who has one address there has them all. With rules
// the key says it: ip/56.
func IPv6Prefix(bits int) KeyedOption {
	if bits < 1 || bits > 128 {
		panic("httplimit: IPv6Prefix: " + strconv.Itoa(bits) + " is not from 1 to 128")
	}
	return keyedOption(func(c *config) { c.ipv6Bits = bits })
}

// KeyBy says whose budget a request is charged to; without it that of the client's
// address. A request whose key is empty, over 1 KiB or an error is refused with status
// 400: let f fall back on [ClientAddress] if that is too strict.
func KeyBy(f func(*http.Request) (string, error)) KeyedOption {
	return keyedOption(func(c *config) { c.keyBy = f })
}

// Name gives the limits names for clients to read, in their order. Without it a
// single limit is called "default", and each of several by its text, such as "10/s".
func Name(names ...string) KeyedOption {
	return keyedOption(func(c *config) { c.names = names })
}

// MaxWaiters bounds how many requests wait at the same time, 10,000 if not given, of which
// one key can have a quarter. The others are refused at once. Rules have that of their
// engine.
func MaxWaiters(n int) KeyedOption {
	return keyedOption(func(c *config) { c.maxWaiters = int64(n) })
}

// User says who sent a request, for rules with user in their key.
func User(f func(*http.Request) string) RulesOption {
	return rulesOption(func(c *config) { c.user = f })
}

// Attributes supplies what rules match and key by attribute.
func Attributes(f func(*http.Request) map[string]string) RulesOption {
	return rulesOption(func(c *config) { c.attributes = f })
}

// Subrequests says that requests are questions of a proxy about others, as those of
// nginx's auth_request are: answered at once, while the request that they ask about is
// not over. So limits of concurrency are only looked at: a request is refused if no
// permit is free, and takes none.
func Subrequests() RulesOption {
	return rulesOption(func(c *config) { c.subrequests = true })
}
