package cli_test

import (
	"context"
	"net"
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sluice-limiter/sluice/server/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sluice": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := cli.Run(ctx, cli.Terminal{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()})
		stop()
		os.Exit(code)
	}})
}

// TestScripts runs what a person would type. In a script, $ADDRESS is free, and "ready"
// waits until a server listens there.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			env.Setenv("ADDRESS", l.Addr().String())
			env.Setenv("SLUICE_SERVER", "http://"+l.Addr().String())
			return l.Close()
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"ready": ready},
	})
}

func ready(ts *testscript.TestScript, _ bool, _ []string) {
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		c, err := net.DialTimeout("tcp", ts.Getenv("ADDRESS"), time.Second)
		if err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond) // until it listens, or the deadline
	}
	ts.Fatalf("no server listens on %s", ts.Getenv("ADDRESS"))
}
