package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/sluice-limiter/sluice/e2e/faultproxy"
	"github.com/sluice-limiter/sluice/e2e/redistest"
)

// increment counts how often it ran.
const increment = "return {redis.call('INCR', KEYS[1])}"

// TestScripters: numbers, errors and binary strings pass unchanged.
func TestScripters(t *testing.T) {
	server := redistest.Start(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			s, ctx := c.open(t, standalone(server)), t.Context()
			echo := "local r = {-9007199254740991, #KEYS, #ARGV} for i, v in ipairs(ARGV) do r[3 + i] = #v end return r"
			got, err := s.Eval(ctx, echo, []string{"{k}1", "{k}2"}, []string{"", "\x00\r\n", strings.Repeat("x", 100_000)})
			if want := []int64{-9007199254740991, 2, 3, 0, 3, 100_000}; err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v, want %v", got, err, want)
			}
			sha := server.Text("SCRIPT", "LOAD", "return {#KEYS, tonumber(ARGV[1])}")
			if got, err := s.EvalSha(ctx, sha, nil, []string{"42"}); err != nil || !slices.Equal(got, []int64{0, 42}) {
				t.Errorf("%v, %v", got, err)
			}
			if got, err := s.Eval(ctx, "return {}", []string{"k"}, nil); err != nil || len(got) != 0 {
				t.Errorf("empty: %v, %v", got, err)
			}
			_, err = s.EvalSha(ctx, strings.Repeat("f", 40), []string{"k"}, nil)
			wantError(t, err, "NOSCRIPT ")
			_, err = s.Eval(ctx, "return redis.error_reply('READONLY no')", []string{"k"}, nil)
			wantError(t, err, "READONLY no")
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := s.Eval(ended, "return {1}", []string{"k"}, nil); err == nil {
				t.Error("a call after its context has ended")
			}
		})
	}
}

func wantError(t *testing.T, err error, prefix string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		t.Errorf("error %v, want %s", err, prefix)
	}
}

// TestScriptersInCluster: calls find the node of their key; keys of two slots are
// an error, not a panic.
func TestScriptersInCluster(t *testing.T) {
	c := redistest.StartCluster(t)
	for _, client := range clients {
		t.Run(client.name, func(t *testing.T) {
			s, ctx := client.open(t, cluster(c)), t.Context()
			for i := range 30 {
				key := fmt.Sprintf("%s %d", client.name, i)
				if got, err := s.Eval(ctx, increment, []string{key}, nil); err != nil || !slices.Equal(got, []int64{1}) {
					t.Errorf("key %q: %v, %v", key, got, err)
				}
			}
			_, err := s.Eval(ctx, increment, []string{"a", "b"}, nil)
			wantError(t, err, "CROSSSLOT ")
			if got, err := s.Eval(ctx, "return {#KEYS}", []string{"{a}b", "{a}c"}, nil); err != nil || !slices.Equal(got, []int64{2}) {
				t.Errorf("two keys of one slot: %v, %v", got, err)
			}
		})
	}
	t.Run("sent once", func(t *testing.T) { testSentOnce(t, cluster(c), c.Owner(redistest.Slot("k")), c.Nodes()...) })
}

// TestSentOnce: a script whose answer is lost is not sent again, whether the
// connection breaks or nothing comes.
func TestSentOnce(t *testing.T) {
	server := redistest.Start(t)
	g := standalone(server)
	testSentOnce(t, g, server, server)
	t.Run("control", func(t *testing.T) {
		g := g.throughProxies(t, server)
		g.timeout = silence
		for _, fault := range lostAnswers {
			if n := loseOne(t, g, server, fault, careless{openGoredis(t, g)}); n < 2 {
				t.Errorf("after %v go-redis by itself sent the script %d times: the test proves nothing", fault, n)
			}
		}
	})
}

// silence is how long clients wait for an answer here.
const silence = 500 * time.Millisecond

// careless sends scripts as go-redis does by itself.
type careless struct{ goredis.UniversalClient }

func (c careless) Eval(ctx context.Context, script string, keys, _ []string) ([]int64, error) {
	return c.UniversalClient.Eval(ctx, script, keys).Int64Slice()
}

func (c careless) EvalSha(context.Context, string, []string, []string) ([]int64, error) {
	return nil, errors.ErrUnsupported
}

// lostAnswers are the ways in which an answer is lost: the connection breaks, or
// nothing comes.
var lostAnswers = []faultproxy.Answers{faultproxy.SwallowOneAndCut, faultproxy.Swallow}

// testSentOnce loses answers between each client and the servers; owner has the
// key k.
func testSentOnce(t *testing.T, g target, owner *redistest.Server, servers ...*redistest.Server) {
	g.timeout = silence
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			g := g.throughProxies(t, servers...)
			s := c.open(t, g)
			for _, fault := range lostAnswers {
				if n := loseOne(t, g, owner, fault, s); n != 1 {
					t.Errorf("after fault %v the script ran %d times", fault, n)
				}
			}
		})
	}
}

// loseOne runs a script whose answer is lost, and returns how often it ran. The
// proxy is in order again as soon as that has happened, so that nothing keeps a
// client from sending the script again.
func loseOne(t *testing.T, g target, owner *redistest.Server, fault faultproxy.Answers, s scripter) (ran int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	proxy := g.proxies[owner.Addr()]
	redistest.Wait(t, "the client works", func() bool {
		_, err := s.Eval(ctx, increment, []string{"other {k}"}, nil)
		return err == nil
	})
	redistest.Wait(t, "the script's answer is lost", func() bool { // not that of a handshake or a ping
		lost, answered := proxy.Lost(), make(chan error, 1)
		proxy.Set(faultproxy.Faults{Answers: fault})
		go func() {
			_, err := s.Eval(ctx, increment, []string{"k"}, nil)
			answered <- err
		}()
		redistest.Wait(t, "an answer is lost", func() bool { return proxy.Lost() > lost })
		proxy.Set(faultproxy.Faults{})
		err := <-answered
		ran, _ = strconv.Atoi(owner.Text("GETDEL", "k"))
		return ran > 1 || ran == 1 && err != nil
	})
	return ran
}

// TestSentOnceWithSentinels: likewise through the failover clients.
func TestSentOnceWithSentinels(t *testing.T) {
	s := redistest.StartSentinels(t)
	testSentOnce(t, sentinels(s), s.Servers[0], s.Servers...)
}
