// Example is an HTTP server that is limited by a file of rules. The file can be changed
// while the server runs: what is good holds from the next request on, what is broken is
// logged and changes nothing.
//
//	go run . -rules rules.yaml -listen 127.0.0.1:8080
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/httplimit"
)

func main() {
	path := flag.String("rules", "rules.yaml", "the rules: a file, or a directory of them")
	listen := flag.String("listen", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", *listen)
	if err == nil {
		err = serve(ctx, *path, listener, log.Default())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers requests until ctx ends.
func serve(ctx context.Context, path string, listener net.Listener, logger *log.Logger) error {
	rules, err := rulefile.Load(path, rulefile.CheckTests())
	if err != nil {
		return err // every problem with its line and what to do
	}
	// An observer sees every decision: contrib/prometheus has one that makes metrics.
	e, err := engine.New(rules.Set, nil)
	if err != nil {
		return err
	}
	defer e.Close()

	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { watch(ctx, path, rules, e, logger) })
	defer watching.Wait()
	defer stop()

	server := &http.Server{Handler: httplimit.Rules(e)(http.HandlerFunc(hello)), ReadHeaderTimeout: 5 * time.Second}
	return listenUntil(ctx, server, listener)
}

// watch takes over what the rules change to.
func watch(ctx context.Context, path string, rules *rulefile.Result, e *engine.Engine, logger *log.Logger) {
	// It ends with ctx only, whose error says nothing new.
	_ = rulefile.Watch(ctx, path, func(changed *rulefile.Result, err error) {
		if err == nil {
			err = e.Swap(changed.Set)
		}
		if err != nil {
			logger.Printf("the rules before go on: %v", err)
			return
		}
		logger.Printf("rules in force: %d", len(changed.Config.Rules))
	}, rulefile.Since(rules), rulefile.CheckTests())
}

// listenUntil serves until ctx ends, and lets running requests finish.
func listenUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := server.Shutdown(last)
	<-failed
	return err
}

// hello stands for the service.
func hello(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "hello from", r.URL.Path) }
