package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/config"
)

func newDemo(t Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a server with traffic, to look at",
		Long: `Demo starts a server with sample rules in this process and sends it the traffic of
a hundred clients, some of them too eager. Nothing else is needed, and nothing
leaves this machine. It runs until Ctrl-C, or for --for.`,
		Example: "  sluice demo\n  sluice demo --rate 1000 --for 1m",
		Args:    cobra.NoArgs,
	}
	listen := c.Flags().String("listen", "127.0.0.1:8080", "address; port 0 takes a free one")
	length := c.Flags().Duration("for", 0, "how long; 0 means until Ctrl-C")
	perSecond := c.Flags().Int64("rate", 200, "requests per second")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *perSecond < 1 || *perSecond > 100_000 {
			return usage(fmt.Errorf("--rate %d: must be 1 to 100000", *perSecond))
		}
		ctx, cancel := context.WithCancel(c.Context())
		if *length > 0 {
			ctx, cancel = context.WithTimeout(c.Context(), *length)
		}
		defer cancel()
		a, _, err := start(c, t, config.Sources{Flags: map[string]string{"listen": *listen, "log.level": "warn"}})
		if err != nil {
			return err
		}
		hello(c.OutOrStdout(), a, "http", false)
		done := make(chan struct{})
		go func() {
			defer close(done)
			visit(ctx, a.Engine(), *perSecond)
		}()
		err = a.Run(ctx)
		<-done
		s := a.Engine().Stats()
		fmt.Fprintf(c.OutOrStdout(), "%d requests, %d allowed, %d refused\n", s.Requests, s.Allowed, s.Denied)
		return err
	}
	return c
}

// visit sends requests at an even rate until ctx ends. Few clients send most of them.
func visit(ctx context.Context, e *engine.Engine, perSecond int64) {
	pace := sluice.NewLimiter(sluice.PerSecond(perSecond).WithBurst(1))
	draw := rand.New(rand.NewPCG(1, 2))
	clients := rand.NewZipf(draw, 1.2, 1, 99)
	paths := []string{"/", "/api/orders", "/api/orders/7", "/login", "/search", "/health"}
	for pace.Wait(ctx) == nil {
		client := byte(clients.Uint64())
		r := engine.Request{Method: "GET", Path: paths[draw.IntN(len(paths))], IP: netip.AddrFrom4([4]byte{192, 0, 2, client})}
		if r.Path == "/login" {
			r.Method = "POST"
		}
		if _, err := e.Check(ctx, r); err != nil && ctx.Err() == nil {
			time.Sleep(100 * time.Millisecond) // the store is down: no reason to hurry
		}
	}
}
