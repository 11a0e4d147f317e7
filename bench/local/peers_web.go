package local

import (
	"net/http"
	"time"

	"github.com/didip/tollbooth/v8"
	"github.com/didip/tollbooth/v8/limiter"
	"github.com/go-chi/httprate"
	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/time/rate"
)

// webPeers are the limiters that come with HTTP frameworks, called as directly
// as they let themselves be called.
func webPeers() []Contestant {
	return []Contestant{{
		Name: "httprate", Module: "github.com/go-chi/httprate", Model: Windows,
		Doubt: "weights the previous window: an approximation", Note: "sets headers",
		NewSingle: asSingle(newHTTPRate), NewKeyed: newHTTPRate,
	}, {
		Name: "tollbooth", Module: "github.com/didip/tollbooth/v8",
		NewSingle: asSingle(newTollbooth), NewKeyed: newTollbooth,
	}, {
		Name: "echo memory store", Module: "github.com/labstack/echo/v4",
		NewSingle: asSingle(newEcho), NewKeyed: newEcho,
	}}
}

// headerWriter is a response that keeps only headers.
type headerWriter struct{ h http.Header }

func (w headerWriter) Header() http.Header         { return w.h }
func (w headerWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w headerWriter) WriteHeader(int)             {}

type httpRateKeyed struct {
	l *httprate.RateLimiter
	r *http.Request
}

func newHTTPRate(q Quota, _ int) Keyed {
	n, d := q.window()
	return httpRateKeyed{
		httprate.NewRateLimiter(int(n), d),
		must(http.NewRequest(http.MethodGet, "/", http.NoBody)),
	}
}

// Run implements Keyed.
func (k httpRateKeyed) Run(seq string) (t Tally) {
	w := headerWriter{make(http.Header, 8)}
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		t.count(!k.l.OnLimit(w, k.r, seq[:KeyLen]))
	}
	return t
}

type tollboothKeyed struct{ l *limiter.Limiter }

func newTollbooth(q Quota, _ int) Keyed {
	return tollboothKeyed{tollbooth.NewLimiter(q.perSecond(), nil).SetBurst(int(q.Burst))}
}

// Run implements Keyed.
func (k tollboothKeyed) Run(seq string) (t Tally) {
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		t.count(!k.l.LimitReached(seq[:KeyLen]))
	}
	return t
}

type echoKeyed struct {
	s *middleware.RateLimiterMemoryStore
}

// newEcho keeps visitors for an hour, so that none is forgotten and recounted
// within a run.
func newEcho(q Quota, _ int) Keyed {
	return echoKeyed{middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Limit(q.perSecond()), Burst: int(q.Burst), ExpiresIn: time.Hour,
	})}
}

// Run implements Keyed.
func (k echoKeyed) Run(seq string) (t Tally) {
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		ok, err := k.s.Allow(seq[:KeyLen])
		t.countErr(ok, err)
	}
	return t
}
