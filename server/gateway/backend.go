package gateway

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/sluice-limiter/sluice/server/config"
)

// server is one of a group, with the connections to it.
type server struct {
	name      string // as the settings have it
	scheme    string // http or https
	authority string // host and port
	timeouts  config.UpstreamTimeouts
	transport *http.Transport // for all requests that need more than wires have
	wires     *wires          // nil: it speaks TLS or HTTP/2
	health    *health
}

func newServer(text string, c config.Upstream, trust *tls.Config, o *Options) (*server, error) {
	at, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("gateway: upstream %s: %w", c.Name, err)
	}
	s := &server{name: text, scheme: at.Scheme, authority: withPort(at), timeouts: c.Timeouts}
	dialer := &net.Dialer{Timeout: time.Duration(c.Timeouts.Connect)}
	s.transport = &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        trust.Clone(),
		TLSHandshakeTimeout:    time.Duration(c.Timeouts.Connect),
		ResponseHeaderTimeout:  time.Duration(c.Timeouts.Answer),
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxAnswerHeader,
		MaxIdleConnsPerHost:    c.Idle,
		IdleConnTimeout:        keepIdle,
		DisableCompression:     true, // what the client asked for is passed on
		WriteBufferSize:        16 << 10,
		ReadBufferSize:         16 << 10,
		Protocols:              new(http.Protocols),
	}
	switch at.Scheme {
	case "http":
		s.transport.Protocols.SetHTTP1(true)
		s.wires = &wires{authority: s.authority, dialer: dialer, most: c.Idle, base: o.Now()}
	case "h2c":
		s.scheme = "http"
		s.transport.Protocols.SetUnencryptedHTTP2(true)
	default:
		s.transport.Protocols.SetHTTP1(true)
		s.transport.Protocols.SetHTTP2(true)
	}
	s.health = newHealth(s, c, o)
	return s, nil
}

// What answers and connections may take.
const (
	maxAnswerHeader = 1 << 20
	keepIdle        = 30 * time.Second // most servers keep connections for longer
)

func withPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// send sends a request and returns the beginning of the answer. The error is a failure.
func (s *server) send(o *outbound, w http.ResponseWriter) (*http.Response, error) {
	if s.wires != nil && o.simple() {
		return s.wires.send(o, s, w)
	}
	return s.roundTrip(o, w)
}

// close gives up the connections that nobody uses; others are given up after their use.
func (s *server) close() {
	s.health.close()
	s.transport.CloseIdleConnections()
	if s.wires != nil {
		s.wires.close()
	}
}
