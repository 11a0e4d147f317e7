// Outgoing is a client that keeps to what a server can take: at most two calls every
// 100 ms to each host, and none before a server that answered 429 wants to be called
// again.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
)

func main() {
	if err := run(os.Stdout, server()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer, next http.RoundTripper) error {
	perHost := sluice.NewKeyed(sluice.Per(2, 100*time.Millisecond))
	client := &http.Client{
		Transport: httplimit.Transport(next, httplimit.PerHost(perHost), httplimit.Wait(200*time.Millisecond)),
	}
	start := time.Now()
	for i := range 6 {
		answer, err := client.Get("http://api.example.com/orders")
		after := time.Since(start).Round(50 * time.Millisecond)
		switch held := (*httplimit.HeldError)(nil); {
		case errors.As(err, &held):
			fmt.Fprintf(out, "call %d: not made, %s wants a rest of %v\n", i, held.Host, held.RetryAfter.Round(time.Second))
			continue
		case err != nil:
			return err
		}
		fmt.Fprintf(out, "call %d: status %d after %v\n", i, answer.StatusCode, after)
		if err := answer.Body.Close(); err != nil {
			return err
		}
	}
	return nil
}

// server stands for one that has had enough after four calls.
func server() http.RoundTripper {
	calls := 0
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		calls++
		answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}
		if calls == 5 {
			answer.StatusCode = http.StatusTooManyRequests
			answer.Header.Set("Retry-After", "30")
		}
		return answer, nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
