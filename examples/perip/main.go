// Perip limits an HTTP server in one line: so many requests per client address. The
// program calls its own server and shows what clients are told.
//
//	go run ./examples/perip            calls itself and ends
//	go run ./examples/perip -listen    serves on 127.0.0.1:8080 until Ctrl-C; try curl -i
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
)

func main() {
	listen := flag.Bool("listen", false, "serve on 127.0.0.1:8080 until Ctrl-C")
	flag.Parse()
	handler := limited()
	err := show(handler, os.Stdout)
	if *listen {
		err = serve(handler)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// limited is a handler with the one line that limits it.
func limited() http.Handler {
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	})
	return httplimit.ByIP(sluice.PerMinute(3), httplimit.Health("/healthz"))(hello)
}

// show lets two addresses call the handler.
func show(h http.Handler, out io.Writer) error {
	for _, from := range []string{"192.0.2.1:1111", "192.0.2.1:2222", "192.0.2.1:3333", "192.0.2.1:4444", "192.0.2.2:1111"} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Fprintf(out, "%s: %d, RateLimit: %s, Retry-After: %q\n", from, w.Code, w.Header().Get("RateLimit"), w.Header().Get("Retry-After"))
	}
	return nil
}

func serve(h http.Handler) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: h, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Println("serving on http://127.0.0.1:8080, three requests a minute")
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return nil
}
