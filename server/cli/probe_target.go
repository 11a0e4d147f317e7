package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// probeRequest is what is sent to every target.
type probeRequest struct {
	method  string
	headers []string
	body    string
}

// probeTarget is an address and the call of it.
type probeTarget struct {
	address string
	call    func(context.Context) error
}

func newProbeClient(inFlight int) *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: inFlight, MaxIdleConns: 0, IdleConnTimeout: time.Minute, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// target finds out whether an address may be loaded, and how it is called.
func (p *probeRequest) target(ctx context.Context, client *http.Client, address string, mine bool) (probeTarget, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return probeTarget{}, fmt.Errorf("--target %q: give an address such as http://127.0.0.1:8080/", address)
	}
	if !mine && !isLoopback(ctx, u.Hostname()) {
		return probeTarget{}, fmt.Errorf("--target %s is another machine: load only what you may, and say so with --i-own-this-target", address)
	}
	sample, err := http.NewRequestWithContext(ctx, p.method, address, http.NoBody)
	if err != nil {
		return probeTarget{}, fmt.Errorf("--method: %w", err)
	}
	for _, line := range p.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return probeTarget{}, fmt.Errorf("--header %q: write it as 'Name: value'", line)
		}
		sample.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if host := sample.Header.Get("Host"); host != "" {
		sample.Host = host
	}
	return probeTarget{address, func(ctx context.Context) error { return p.send(client, sample.Clone(ctx)) }}, nil
}

// errLimited tells somebody who probes a limit that this is what they do.
var errLimited = errors.New("answers 429: a limit stands before it, probe what is behind")

// send sends a request and reads the answer to its end.
func (p *probeRequest) send(client *http.Client, r *http.Request) error {
	if p.body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(p.body)), int64(len(p.body))
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	switch {
	case err != nil:
		return err
	case answer.StatusCode == http.StatusTooManyRequests:
		return errLimited
	case answer.StatusCode >= http.StatusBadRequest:
		return fmt.Errorf("answers %s", answer.Status)
	}
	return nil
}
