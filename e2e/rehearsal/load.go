package rehearsal

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// answer is what a client got, and when it asked.
type answer struct {
	start, end time.Duration // since the load began
	address    string        // of the client
	instance   string        // that answered; empty: the gateway did
	status     int           // 0: there was no answer
	err        error
}

// refused reports whether the client was told to come back later.
func (a *answer) refused() bool { return a.status == http.StatusTooManyRequests }

// load asks for orders at a rate, whatever the answers are.
type load struct {
	target    string
	perSecond int
	client    *http.Client
	places    chan struct{} // bounds how many wait, should the machine not keep up

	asked   atomic.Int64
	mu      sync.Mutex // guards answers
	answers []answer
}

// Who asks, and how much more than can be served.
const (
	overloadFactor    = 10
	floodingAddresses = 5
	normalAddresses   = 200
)

// tick is how often requests are sent.
const tick = 10 * time.Millisecond

func newLoad(target string, perSecond int) *load {
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	return &load{
		target: target + "/orders", perSecond: perSecond, places: make(chan struct{}, 512),
		client: &http.Client{Transport: transport, Timeout: 2 * patience},
	}
}

// run sends requests until ctx ends and returns when all are answered.
func (l *load) run(ctx context.Context) []answer {
	begin := time.Now()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var all sync.WaitGroup
	for ctx.Err() == nil {
		due := int64(time.Since(begin).Seconds() * float64(l.perSecond))
		for n := l.asked.Load(); n < due && ctx.Err() == nil; n++ {
			l.places <- struct{}{}
			l.asked.Add(1)
			all.Go(func() {
				l.ask(n, begin)
				<-l.places
			})
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
	all.Wait()
	l.client.CloseIdleConnections()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers
}

// clientAddress is who sends the n-th request. Every second one comes from a few addresses that
// take no notice of limits; the others from many, each of which stays within its own.
func clientAddress(n int64) string {
	if n%2 == 0 {
		return fmt.Sprintf("203.0.113.%d", 1+n/2%floodingAddresses)
	}
	return fmt.Sprintf("198.51.100.%d", 1+n/2%normalAddresses)
}

func (l *load) ask(n int64, begin time.Time) {
	a := answer{address: clientAddress(n), start: time.Since(begin)}
	// Requests are finished when the load ends, so that no order is left half done.
	request, err := http.NewRequest(http.MethodPost, l.target, nil)
	if err == nil {
		request.Header.Set("X-Forwarded-For", a.address)
		var response *http.Response
		if response, err = l.client.Do(request); err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			a.status, a.instance = response.StatusCode, response.Header.Get("Shop-Instance")
		}
	}
	a.err, a.end = err, time.Since(begin)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = append(l.answers, a)
}

// since returns the answers from the n-th on.
func (l *load) since(n int) []answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers[n:]
}
