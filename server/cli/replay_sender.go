package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/server/api"
)

// maxUnderWay is how many requests may be under way at the same time; those beyond are
// not sent, for their answers would come at other times than predicted.
const maxUnderWay = 512

// sender sends requests at their times and compares what comes back.
type sender struct {
	target *url.URL
	api    bool // the target is asked what it decides, rather than loaded
	speed  float64
	start  time.Time
	first  int64        // instant of the first entry, in µs since 1970
	latest atomic.Int64 // of the last one that was sent, after the first
	client *http.Client
	slots  chan struct{}
	wg     sync.WaitGroup

	translate replay.Translator

	mu   sync.Mutex // guards what follows
	live replay.Live
}

func newSender(target *url.URL, speed float64) *sender {
	transport := &http.Transport{MaxIdleConnsPerHost: maxUnderWay, MaxConnsPerHost: maxUnderWay, DisableCompression: true}
	return &sender{
		target: target, api: strings.HasSuffix(target.Path, "/v1/check"), speed: speed, slots: make(chan struct{}, maxUnderWay),
		client: &http.Client{
			Transport: transport, Timeout: 30 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		live: replay.Live{Target: target.Redacted(), Speed: speed},
	}
}

// due returns when an entry is sent, in µs since 1970: as long after the first as the
// speed says, by the clock on the wall, so that windows begin when the server's do.
func (s *sender) due(at int64) int64 {
	if s.start.IsZero() {
		s.start, s.first = time.Now().Add(100*time.Millisecond), at
	}
	s.latest.Store(at - s.first)
	return s.start.UnixMicro() + int64(float64(at-s.first)/s.speed)
}

// progress tells how far it is.
func (s *sender) progress(time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s answers, %s refused, %s failed; %v into the log", count(s.live.Sent), count(s.live.Denied), count(s.live.Failed),
		(time.Duration(s.latest.Load()) * time.Microsecond).Round(time.Second))
}

// send waits until the request is due, and sends it without waiting for the answer.
func (s *sender) send(ctx context.Context, at int64, e *accesslog.Entry, allowed bool) {
	if !pause(ctx, time.Until(time.UnixMicro(at))) {
		return
	}
	late := max(time.Since(time.UnixMicro(at)), 0)
	r, err := s.request(ctx, e)
	s.mu.Lock()
	s.live.MaxLag = max(s.live.MaxLag, replay.Seconds(late))
	s.mu.Unlock()
	select {
	case s.slots <- struct{}{}:
	default:
		s.note(func(l *replay.Live) { l.Dropped++ })
		return
	}
	s.wg.Go(func() {
		defer func() { <-s.slots }()
		live := false
		if err == nil {
			live, err = s.ask(r)
		}
		if err != nil && ctx.Err() != nil {
			return // somebody ended it: that is no failure of the target
		}
		s.note(func(l *replay.Live) { tallyAnswer(l, live, allowed, err) })
	})
}

// pause waits; it returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *sender) note(change func(*replay.Live)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.live)
}

// tallyAnswer counts one answer.
func tallyAnswer(l *replay.Live, live, predicted bool, err error) {
	l.Sent++
	if !predicted {
		l.Predicted++
	}
	switch {
	case err != nil:
		if l.Failed++; l.Error == "" {
			l.Error = err.Error()
		}
		return
	case live:
		l.Allowed++
	default:
		l.Denied++
	}
	switch {
	case live == predicted:
		l.Equal++
	case predicted:
		l.OnlyLive++
	default:
		l.OnlyHere++
	}
}

// request makes the request of an entry. The client's address goes along as
// X-Forwarded-For, which the target has to trust this machine for.
func (s *sender) request(ctx context.Context, e *accesslog.Entry) (*http.Request, error) {
	if s.api {
		return s.question(ctx, e)
	}
	where := strings.TrimSuffix(s.target.String(), "/")
	path := strings.Clone(e.Path)
	if !strings.HasPrefix(path, "/") {
		path = "/"
	}
	if e.Query != "" {
		path += "?" + e.Query
	}
	method := strings.Clone(e.Method)
	if method == "" || method == http.MethodConnect {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, where+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "") // or the client would tell its own
	for name, value := range s.headers(e) {
		r.Header.Set(name, value)
	}
	if e.IP.IsValid() {
		r.Header.Set("X-Forwarded-For", e.IP.String())
	}
	if e.Host != "" {
		r.Host = strings.Clone(e.Host)
	}
	return r, nil
}

// headers returns the headers that the log tells, cookies included. Rules make keys of
// them.
func (s *sender) headers(e *accesslog.Entry) map[string]string {
	headers := map[string]string{}
	for _, f := range e.More {
		if name, ok := strings.CutPrefix(f.Name, "header:"); ok {
			headers[strings.Clone(name)] = strings.Clone(f.Value)
		}
	}
	if cookie := s.translate.Request(e).Header.Get("Cookie"); cookie != "" {
		headers["Cookie"] = strings.Clone(cookie)
	}
	if e.Agent != "" {
		headers["User-Agent"] = strings.Clone(e.Agent)
	}
	return headers
}

// question asks the API of a sluice server about an entry.
func (s *sender) question(ctx context.Context, e *accesslog.Entry) (*http.Request, error) {
	q := api.Request{
		Method: e.Method, Host: e.Host, Path: e.Path, Query: e.Query, User: e.User, Cost: e.Cost, Length: e.Length,
		Headers: s.headers(e), Attributes: s.translate.Request(e).Attributes,
	}
	if e.IP.IsValid() {
		q.IP = e.IP.String()
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.target.String()+"?status=429", bytes.NewReader(body))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, err
}

// ask sends a request, and tells whether it was allowed.
func (s *sender) ask(r *http.Request) (bool, error) {
	answer, err := s.client.Do(r)
	if err != nil {
		return false, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20)) // so that the connection is used again
	_ = answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusTooManyRequests:
		return false, nil
	case s.api && answer.StatusCode != http.StatusOK, answer.StatusCode == http.StatusBadGateway, answer.StatusCode == http.StatusServiceUnavailable:
		return false, fmt.Errorf("%w: status %d", errNoAnswer, answer.StatusCode)
	}
	return true, nil
}

// wait waits for all answers.
func (s *sender) wait() *replay.Live {
	s.wg.Wait()
	s.client.CloseIdleConnections()
	return &s.live
}
