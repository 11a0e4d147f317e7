package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// fake answers every call of the script.
type fake func() ([]int64, error)

func (f fake) EvalSha(context.Context, string, []string, []string) ([]int64, error) { return f() }

func (f fake) Eval(context.Context, string, []string, []string) ([]int64, error) { return f() }

// TestSentAgain: only answers that prove that the script did not run let it be sent
// again; a timeout or a broken connection never.
func TestSentAgain(t *testing.T) {
	p := everyKind(t)[0]
	for text, want := range map[string]int{
		"NOSCRIPT No matching script. Please use EVAL.":                                2, // by its text
		"TRYAGAIN Multiple keys request during rehashing of slot":                      4,
		"CLUSTERDOWN The cluster is down":                                              4,
		"LOADING Redis is loading the dataset in memory":                               4,
		"READONLY You can't write against a read only replica.":                        4,
		"MASTERDOWN Link with MASTER is down":                                          4,
		"OOM command not allowed when used memory > 'maxmemory'.":                      1,
		"ERR user_script:1: something":                                                 1,
		"i/o timeout":                                                                  1,
		"EOF":                                                                          1,
		"context deadline exceeded":                                                    1,
		"UNKILLABLE Sorry the script already executed write commands":                  1,
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL":           1,
		"MOVED 3999 127.0.0.1:6381":                                                    1,
		"read tcp: LOADING is not the first word and so this is no answer of a server": 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			cause := errors.New(text)
			s := open(t, fake(func() ([]int64, error) { calls++; return nil, cause }))
			err := s.Take(context.Background(), store.Spend, []store.Check{{Key: "k", Spec: p, Cost: 1}})
			if !errors.Is(err, cause) {
				t.Errorf("%s: error %v does not wrap the client's", text, err)
			}
			if calls != want {
				t.Errorf("%s: sent %d times, want %d", text, calls, want)
			}
		})
	}
}

// TestNotSentAgainAfterTheDeadline: whoever waits for a server to be ready leaves
// when the caller does.
func TestNotSentAgainAfterTheDeadline(t *testing.T) {
	p := everyKind(t)[0]
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		s := open(t, fake(func() ([]int64, error) { calls++; return nil, errors.New("LOADING Redis is loading") }))
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := s.Take(ctx, store.Spend, []store.Check{{Key: "k", Spec: p, Cost: 1}})
		if err == nil || calls != 2 || time.Since(start) != 2*time.Millisecond {
			t.Errorf("error %v after %d calls and %v", err, calls, time.Since(start))
		}
	})
}

// TestBadReply: whatever a client returns, the answer is an error, not a panic.
func TestBadReply(t *testing.T) {
	p := everyKind(t)[0]
	for _, reply := range [][]int64{nil, {1}, {1, 1}, {1, 1, 2}, {1, 1, 2, 3, 4}, {1, 16}, {1, 16 + 256*9}, {1, 16 + 256 + 65536*7}, {-2}, {-2, 0}, {-2, 0, 0, 0}} {
		s := open(t, fake(func() ([]int64, error) { return reply, nil }))
		err := s.Take(context.Background(), store.Spend, []store.Check{{Key: "k", Spec: p, Cost: 1}})
		if err == nil {
			t.Errorf("reply %v is taken for an answer", reply)
		}
	}
}

var evalCalls = regexp.MustCompile(`cmdstat_(eval|evalsha):calls=(\d+)`)

// scriptCalls tells how often the server was asked to run a script.
func scriptCalls(t testing.TB, c *resp.Client) string {
	return fmt.Sprint(evalCalls.FindAllString(do(t, c, "INFO", "commandstats").(string), -1))
}

// TestBadReplyShort: the short answer of token buckets is none to anything else.
func TestBadReplyShort(t *testing.T) {
	s := open(t, fake(func() ([]int64, error) { return []int64{-2, 0, 0}, nil }))
	if _, _, err := s.Beat(context.Background(), "group", "id", time.Second); !errors.Is(err, redisstore.ErrReply) {
		t.Errorf("a beat: %v", err)
	}
	for _, p := range everyKind(t) {
		err := s.Take(context.Background(), store.Lease, []store.Check{{Key: "k", Spec: p, Cost: 1, Want: 1}})
		if err == nil && p.Kind != algo.Unlimited && p.Kind != algo.Ban {
			t.Errorf("a lease of %s is granted", algotest.Describe(*p))
		}
	}
}

// TestOneCallPerDecision: one EVALSHA, however many limits and keys; one EVAL more
// when the server has lost the script.
func TestOneCallPerDecision(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	var checks []store.Check
	for i, p := range everyKind(t) {
		checks = append(checks, store.Check{Key: fmt.Sprint("k", i%4), Spec: p, Cost: 1, ID: "id", Hold: 1e6, Want: 3})
	}
	take(t, s, store.Spend, checks...)
	do(t, c, "CONFIG", "RESETSTAT")
	for op := range store.Acquire {
		take(t, s, op, append([]store.Check(nil), checks...)...)
		take(t, s, op, checks[0])
	}
	if got, want := scriptCalls(t, c), fmt.Sprintf("[cmdstat_evalsha:calls=%d]", 2*store.Acquire); got != want {
		t.Errorf("%d decisions made %s, want %s", 2*store.Acquire, got, want)
	}
	do(t, c, "SCRIPT", "FLUSH")
	do(t, c, "CONFIG", "RESETSTAT")
	for range 5 {
		take(t, s, store.Refund, checks...)
	}
	if calls := scriptCalls(t, c); calls != "[cmdstat_evalsha:calls=5 cmdstat_eval:calls=1]" && calls != "[cmdstat_eval:calls=1 cmdstat_evalsha:calls=5]" {
		t.Errorf("after SCRIPT FLUSH five decisions made %s", calls)
	}
}

// TestServerClock: without a clock of its own the store decides by the server's.
func TestServerClock(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	before := serverTime(t, c)
	got := take(t, s, store.Spend, store.Check{Key: "k", Spec: everyKind(t)[0], Cost: 1})[0].Now
	if after := serverTime(t, c); got < before || got > after {
		t.Errorf("decided at %d, not between %d and %d", got, before, after)
	}
}

func serverTime(t testing.TB, c *resp.Client) (micros int64) {
	t.Helper()
	var seconds int64
	answer := do(t, c, "TIME").([]any)
	if _, err := fmt.Sscan(answer[0].(string), &seconds); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(answer[1].(string), &micros); err != nil {
		t.Fatal(err)
	}
	return seconds*1e6 + micros
}

// TestOptions: options that cannot be are errors.
func TestOptions(t *testing.T) {
	nothing := fake(func() ([]int64, error) { return nil, nil })
	for name, option := range map[string]redisstore.Option{
		"no prefix":     redisstore.Prefix(""),
		"prefix {":      redisstore.Prefix("a{b"),
		"prefix :":      redisstore.Prefix("a:b"),
		"short secret":  redisstore.HashKeys([]byte("short")),
		"secret absent": redisstore.HashKeys(nil),
	} {
		if _, err := redisstore.New(nothing, option); !errors.Is(err, redisstore.ErrOption) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := redisstore.New(nil); !errors.Is(err, redisstore.ErrOption) {
		t.Errorf("no Scripter: error %v", err)
	}
	checks := make([]store.Check, 501)
	for i := range checks {
		checks[i] = store.Check{Key: "k", Spec: everyKind(t)[0]}
	}
	if err := open(t, nothing).Take(context.Background(), store.Spend, checks); !errors.Is(err, redisstore.ErrTooMany) {
		t.Errorf("501 checks: error %v", err)
	}
}
