package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// noopVariable names the file with the answer of the no-op server; a program in whose
// environment it stands is that server.
const noopVariable = "SLUICE_BENCH_NOOP"

// Noop runs the no-op server if this process was started to be it, and then reports true.
// A program that calls Run has to call it first.
func Noop() bool {
	file := os.Getenv(noopVariable)
	if file == "" {
		return false
	}
	if err := serveNoop(file); err != nil {
		fmt.Fprintln(os.Stderr, "no-op server:", err)
		os.Exit(1)
	}
	return true
}

// serveNoop has the limits of time of `sluice serve`: they are of net/http, and nobody
// should run a server without.
func serveNoop(file string) error {
	answer, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	length, kind := []string{strconv.Itoa(len(answer))}, []string{"application/json"}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("listens on http://%s\n", l.Addr())
	s := http.Server{
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 8 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 30 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			w.Header()["Content-Type"], w.Header()["Content-Length"] = kind, length
			_, _ = w.Write(answer)
		}),
	}
	return s.Serve(l)
}
