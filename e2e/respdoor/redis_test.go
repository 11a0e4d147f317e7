package respdoor

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// run runs a tool of Redis and returns what it prints.
func run(t *testing.T, address, input, tool string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Fatalf("%v: run 'make deps', or install Redis", err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, append([]string{"-h", host, "-p", port}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return string(out)
}

// TestRedisCLI: what somebody types gets the answers that redis-cell's users know, and no
// complaints.
func TestRedisCLI(t *testing.T) {
	address := serve(t)
	for _, c := range []struct{ args, want string }{
		{"CL.THROTTLE user123 15 30 60", "0\n16\n15\n-1\n2\n"},
		{"CL.THROTTLE user123 15 30 60 17", "1\n16\n15\n-1\n2\n"},
		{"CL.THROTTLE user123 15 0 60", "Cell error: Zero rates are not supported\n\n"},
		{"PING", "PONG\n"},
		{"COMMAND DOCS", "\n"}, // redis-cli asks for it by itself on a terminal
		{"SLUICE.RESET login ip=192.0.2.1", "OK\n"},
		{"-3 SLUICE.CHECK login ip=192.0.2.1", "allowed true\nremaining 4\nretry_after_ms 0\nreset_after_ms 12000\nwait_ms 0\nreason \nrule login\nlimit login\nshadow false\ndegraded false\n"},
		{"SLUICE.CHECK login ip=192.0.2.1 COST 9", "allowed\n0\nremaining\n4\nretry_after_ms\n0\nreset_after_ms\n"},
	} {
		if got := run(t, address, "", "redis-cli", strings.Fields(c.args)...); !strings.HasPrefix(strings.NewReplacer("(true)", "true", "(false)", "false").Replace(got), c.want) {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	if got, want := run(t, address, "PING\nCL.THROTTLE k 0 1 9\nECHO \"a b\"\n", "redis-cli"), "PONG\n0\n1\n0\n-1\n9\na b\n"; got != want {
		t.Errorf("typed: %q, want %q", got, want)
	}
}

// TestRedisCLIOnATerminal: there redis-cli asks for the documentation of commands first.
func TestRedisCLIOnATerminal(t *testing.T) {
	_, port, err := net.SplitHostPort(serve(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "script", "-qec", "redis-cli -p "+port, "/dev/null")
	cmd.Env = append(os.Environ(), "TERM=dumb") // nobody tells where the cursor is
	cmd.Stdin = strings.NewReader("PING\nquit\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PONG") || strings.Contains(string(out), "rror") {
		t.Errorf("%q, %v", out, err)
	}
}

// TestRedisCLIWithToken: a token is a password.
func TestRedisCLIWithToken(t *testing.T) {
	address := serve(t, "--tokens-env", "SLUICE_TEST_TOKENS")
	for _, c := range []struct{ args, want string }{
		{"SLUICE.PEEK login ip=192.0.2.1", "NOAUTH Authentication required.\n\n"},
		{"-a " + token + " --no-auth-warning CL.THROTTLE k 0 1 9", "0\n1\n0\n-1\n9\n"},
		{"-a " + token + " --no-auth-warning -3 CL.THROTTLE k 0 1 9 0", "0\n1\n0\n-1\n9\n"},
		{"--user me --pass " + token + " --no-auth-warning PING", "PONG\n"},
	} {
		if got := run(t, address, "", "redis-cli", strings.Fields(c.args)...); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	if got := run(t, address, "", "redis-cli", "-a", "wrong", "PING"); !strings.Contains(got, "WRONGPASS") {
		t.Errorf("a wrong token: %q", got)
	}
}

// TestRedisBenchmark: the tool asks without a word of complaint, in all its ways.
func TestRedisBenchmark(t *testing.T) {
	address := serve(t)
	for _, args := range []string{"-P 1", "-P 16", "-P 300 -3", "-c 200", "-P 16 -r 1000"} {
		args = "-n 20000 -q " + args + " CL.THROTTLE k:__rand_int__ 15 30 60"
		if got := run(t, address, "", "redis-benchmark", strings.Fields(args)...); !strings.Contains(got, "requests per second") || strings.Contains(got, "rror") {
			t.Errorf("%s: %q", args, got)
		}
	}
}
