// Command shop is the application of the reference deployment: it takes orders, and writes
// each into PostgreSQL. It protects itself, by a limit in its own process, and the database,
// by a guard whose limit all instances share through Redis.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr); {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errSettings):
		os.Exit(2) // the flag package has told what is wrong
	default:
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. It prints one line on out: where it listens.
func run(ctx context.Context, args, environment []string, out, diagnostics io.Writer) error {
	s, err := readSettings(args, environment, diagnostics)
	if err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(diagnostics, nil))
	guarded, err := openDatabase(ctx, s, logger)
	if err != nil {
		return err
	}
	defer guarded.close()
	counter, err := newShop(s, guarded.DB, logger)
	if err != nil {
		return err
	}
	defer counter.close()
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(out, "listening on http://%s\n", listener.Addr())
	return serve(ctx, listener, counter, s.drain)
}

// serve answers until ctx ends. Then it says that it is not ready any more, goes on for
// drain, so that whoever sends requests can hear of it, and ends what is under way.
func serve(ctx context.Context, listener net.Listener, shop *shop, drain time.Duration) error {
	server := &http.Server{
		Handler:           shop.routes(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		IdleTimeout:       2 * time.Minute, // longer than the gateway keeps its connections
		MaxHeaderBytes:    64 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	shop.draining.Store(true)
	time.Sleep(drain)
	late, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	return server.Shutdown(late)
}
