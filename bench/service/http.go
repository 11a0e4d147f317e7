package service

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/didip/tollbooth/v8"
	"github.com/didip/tollbooth/v8/limiter"
	"github.com/go-chi/httprate"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	ulule "github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/middleware/stdlib"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"

	"github.com/sluice-limiter/sluice/httplimit"
	"github.com/sluice-limiter/sluice/rule"
)

// aLot is a limit that peers write as a whole number per second.
const aLot = 1_000_000_000

// response is a ResponseWriter that keeps only headers, new for each request as
// those of a server are.
type response struct{ header http.Header }

func (w *response) Header() http.Header         { return w.header }
func (w *response) Write(b []byte) (int, error) { return len(b), nil }
func (w *response) WriteHeader(status int)      { panic("refused with status " + strconv.Itoa(status)) }

// visitors are requests from as many addresses.
func visitors(n int) []*http.Request {
	rs := make([]*http.Request, n)
	for i := range rs {
		r, err := http.NewRequest(http.MethodGet, "http://api.example.com/api/orders/7", http.NoBody)
		if err != nil {
			panic(err)
		}
		r.RequestURI, r.RemoteAddr = "/api/orders/7", fmt.Sprintf("192.0.%d.%d:4711", i>>8, i&255)
		rs[i] = r
	}
	return rs
}

func serving(h http.Handler) func(int) {
	rs, at := visitors(1000), 0
	w := &response{}
	return func(n int) {
		for range n {
			if at++; at == len(rs) {
				at = 0
			}
			w.header = make(http.Header)
			h.ServeHTTP(w, rs[at])
		}
	}
}

// httpMiddleware compares middlewares that limit by address and tell of it in
// headers.
func httpMiddleware() lineup {
	return lineup{
		name: "http-middleware", over: true,
		says: "What a middleware adds to a handler that does nothing: an allowed request, limited by address, with headers on where the library has them.",
		make: func() ([]*entrant, error) {
			bare := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
			rules, err := newEngine(1000)
			if err != nil {
				return nil, err
			}
			return append([]*entrant{
				{name: "bare handler", run: serving(bare)},
				{name: "sluice ByIP", note: "RateLimit, RateLimit-Policy", run: serving(httplimit.ByIP(ample)(bare))},
				{name: "sluice ByIP without headers", note: "as echo: tells of a refusal alone", run: serving(httplimit.ByIP(ample, httplimit.Headers(rule.HeadersNone))(bare))},
				{name: "sluice Rules", note: "1,000 rules, 2 match; the same headers", run: serving(httplimit.Rules(rules)(bare))},
			}, httpPeers(bare)...), nil
		},
	}
}

func httpPeers(bare http.Handler) []*entrant {
	booth := tollbooth.NewLimiter(aLot, nil)
	booth.SetIPLookup(limiter.IPLookup{Name: "RemoteAddr"})
	counter := ulule.New(memory.NewStore(), ulule.Rate{Period: time.Second, Limit: aLot})
	return []*entrant{
		{name: "httprate", note: "X-RateLimit-*", run: serving(httprate.LimitBy(aLot, time.Second, remoteAddress)(bare))},
		{name: "tollbooth", note: "RateLimit-*", run: serving(tollbooth.HTTPMiddleware(booth)(bare))},
		{name: "ulule", note: "X-RateLimit-*", run: serving(stdlib.NewMiddleware(counter).Handler(bare))},
		{name: "echo", note: "no headers; without echo's router", run: echoing()},
	}
}

// remoteAddress is how httprate keys by the connection's address.
func remoteAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return httprate.CanonicalizeIP(host), err
}

// echoing calls echo's middleware with a context that is used again, as echo does.
func echoing() func(int) {
	e := echo.New()
	e.IPExtractor = echo.ExtractIPDirect()
	store := middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Limit(aLot), Burst: aLot, ExpiresIn: time.Hour,
	})
	h := middleware.RateLimiter(store)(func(echo.Context) error { return nil })
	rs, at := visitors(1000), 0
	w := &response{}
	c := e.NewContext(rs[0], w)
	return func(n int) {
		for range n {
			if at++; at == len(rs) {
				at = 0
			}
			w.header = make(http.Header)
			c.Reset(rs[at], w)
			if err := h(c); err != nil {
				panic(err)
			}
		}
	}
}
