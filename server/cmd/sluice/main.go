// Sluice is a rate limiter for everything that can ask over HTTP. See sluice --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // limits by calendar work on systems without it

	"github.com/sluice-limiter/sluice/server/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what takes too long to end
	code := cli.Run(ctx, cli.Terminal{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()})
	stop()
	os.Exit(code)
}
