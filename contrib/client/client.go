package sluiceclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultTimeout is how long a call may take with everything, unless [Timeout] or its
// context says less.
const DefaultTimeout = 2 * time.Second

// MaxBatch is how many requests the server takes in one call.
const MaxBatch = 1000

// Client asks one server. It is safe for concurrent use; make one and keep it.
type Client struct {
	base    string // without a slash at the end
	token   string
	http    *http.Client
	timeout time.Duration
}

// Option sets up a Client.
type Option func(*Client)

// Token is sent to servers that ask for one.
func Token(token string) Option { return func(c *Client) { c.token = token } }

// HTTPClient sends the calls; without it a client of their own does. It must not send
// anything again on its own, nor follow redirects to other servers.
func HTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// Timeout bounds each call with all its attempts; 0 leaves it to the context.
func Timeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// New returns a client of the server at this address, such as http://127.0.0.1:8080.
// It does not connect yet.
func New(baseURL string, opts ...Option) (*Client, error) {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("sluiceclient: address: %w", err)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("sluiceclient: address %q: give it with scheme and host, such as http://127.0.0.1:8080", baseURL)
	case u.RawQuery != "", u.Fragment != "", u.User != nil:
		return nil, errors.New("sluiceclient: address: no query, fragment or password can be in it; a token is given with Token")
	}
	c := &Client{base: strings.TrimRight(u.String(), "/"), timeout: DefaultTimeout}
	for _, o := range opts {
		o(c)
	}
	if c.http == nil {
		c.http = newHTTPClient()
	}
	if strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("sluiceclient: token: only printable ASCII characters without spaces can be sent; is there a line break at its end?")
	}
	return c, nil
}

// newHTTPClient keeps more idle connections than the usual two, since all go to one
// host, and follows no redirects: a server does not send any.
func newHTTPClient() *http.Client {
	client := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if usual, ok := http.DefaultTransport.(*http.Transport); ok {
		t := usual.Clone()
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
		client.Transport = t
	}
	return client
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
