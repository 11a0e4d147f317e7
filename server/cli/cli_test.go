package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
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
// waits until a server listens there; for "exits" and "json" see below.
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"ready": ready, "exits": exits, "json": isJSON},
	})
}

// exits runs a program and checks its exit code: exits 3 sluice check GET /
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// isJSON checks that all of stdout is one JSON value, and a field of it: json rules.0.name login
func isJSON(ts *testscript.TestScript, _ bool, args []string) {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &v); err != nil {
		ts.Fatalf("%v", err)
	}
	for _, name := range strings.Split(args[0], ".") {
		switch here := v.(type) {
		case map[string]any:
			v = here[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(here) {
				ts.Fatalf("a list of %d has no %s", len(here), name)
			}
			v = here[i]
		default:
			ts.Fatalf("%v has no %s", v, name)
		}
	}
	if got := fmt.Sprint(v); got != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
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
