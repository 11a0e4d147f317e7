package api

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// Options sets up the handler. The zero value is a good one for a loopback address.
type Options struct {
	// Tokens are hashes, made by HashToken. If there are any, everything but health,
	// readiness and the OpenAPI document asks for one of the tokens.
	Tokens [][sha256.Size]byte

	Metrics    http.Handler  // answers GET /metrics; nil: there is none
	MaxBody    int64         // of a request, in bytes; 1 MiB if 0
	Timeout    time.Duration // of everything but a single check and the events; 10s if 0
	Heartbeat  time.Duration // between signs of life in the events; 15s if 0
	MaxStreams int           // that read the events at the same time; 64 if 0
	Logger     *slog.Logger  // of faults in the handlers; what fails in a store is the engine's to tell

	// Tracer, if not nil, gets a span for every request but those for health, metrics and
	// events. The span of the caller, in the header field traceparent, is its parent.
	Tracer trace.Tracer

	// Places bounds how many requests are worked on at the same time; one with a body
	// takes a place when the body is there. Health, readiness, metrics and events need
	// none. Nil: no bound.
	Places *Places

	// Authorized, if not nil, is told of every request that may ask: it has one of the
	// tokens, or there are none.
	Authorized func(*http.Request)

	// Done, once closed, ends the streams of events. Close it when the server stops, or
	// when another handler takes over, whose tokens their readers may not have. Other
	// requests are answered as before. Nil never ends them.
	Done <-chan struct{}

	// Parallel is how many requests of a batch are decided at the same time. For a store
	// in this process 1 is best, which is meant by 0: the order of the batch is that in
	// which it is decided. For a remote store it should be some dozens.
	Parallel int
}

// Defaults of Options.
const (
	defaultMaxBody    = 1 << 20
	defaultTimeout    = 10 * time.Second
	defaultHeartbeat  = 15 * time.Second
	defaultMaxStreams = 64
)

// MaxBatch is how many requests one check may hold.
const MaxBatch = 1000

// What is done at the same time.
const (
	maxCompiling = 2 // rule files that are worked on
	maxSending   = 2 // records that are sent; however slowly they are read, rules can be changed
)

// handler serves all endpoints.
type handler struct {
	backend   Backend
	options   Options
	paths     map[string]methods // all routes but those of named rules
	origin    *http.CrossOriginProtection
	tell      func() func(http.Header, engine.Decision) // writes a denial that has a status of its own
	exchanges sync.Pool                                 // of *exchange
	bodies    bodies
	streams   atomic.Int64
	compiling few
	sending   few
}

// New returns what answers /v1 and its neighbours from b. Give it to a server with
// time limits: see NewServer.
func New(b Backend, o Options) http.Handler {
	h := &handler{backend: b, options: o.filled(), origin: http.NewCrossOriginProtection(), compiling: make(few, maxCompiling), sending: make(few, maxSending)}
	h.tell = sync.OnceValue(func() func(http.Header, engine.Decision) { return httplimit.Teller(b.Engine(), rule.HeadersDraft10) })
	h.bodies.limit = max(bodyMemory, 2*h.options.MaxBody)
	h.exchanges.New = func() any { return new(exchange) }
	h.paths = byPath(h.routes())
	return h
}

func (o Options) filled() Options {
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = defaultHeartbeat
	}
	if o.MaxStreams <= 0 {
		o.MaxStreams = defaultMaxStreams
	}
	if o.Parallel <= 0 {
		o.Parallel = 1
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// NewServer returns a server for h with limits on headers and time, so that slow
// clients are cut. Its address is not set.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       8 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
	}
}
