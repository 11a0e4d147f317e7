package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"time"
)

// Variables that make a process one of the floors.
const (
	bareProxyVariable   = "SLUICE_BENCH_PROXY"   // the upstream
	bareRefusalVariable = "SLUICE_BENCH_REFUSAL" // the file with the answer
	listenVariable      = "SLUICE_BENCH_LISTEN"
)

// Bare runs one of the floors if this process was started to be it, and then reports
// true. A program that calls Run has to call it first.
func Bare() bool {
	var handler http.Handler
	var err error
	switch {
	case os.Getenv(bareProxyVariable) != "":
		handler, err = bareProxy(os.Getenv(bareProxyVariable))
	case os.Getenv(bareRefusalVariable) != "":
		handler, err = bareRefusal(os.Getenv(bareRefusalVariable))
	default:
		return false
	}
	if err == nil {
		err = serveBare(handler)
	}
	fmt.Fprintln(os.Stderr, "bare server:", err)
	os.Exit(1)
	return true
}

// serveBare has the limits of time that the gateway has: nobody should run a server
// without.
func serveBare(handler http.Handler) error {
	l, err := net.Listen("tcp", os.Getenv(listenVariable))
	if err != nil {
		return err
	}
	s := http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	return s.Serve(l)
}

// bareProxy is what the standard library has.
func bareProxy(upstream string) (http.Handler, error) {
	to, err := url.Parse(upstream)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to); r.SetXForwarded() },
		Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true},
	}, nil
}

// bareRefusal writes an answer that the gateway has given.
func bareRefusal(file string) (http.Handler, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	answer, err := http.ReadResponse(bufio.NewReader(f), nil)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	delete(answer.Header, "Date") // the server writes its own
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, lines := range answer.Header {
			h[name] = lines
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(body)
	}), nil
}
