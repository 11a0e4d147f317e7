package sluicegrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store"
)

const emptyCall = "/grpc.testing.TestService/EmptyCall"

func newEngine(t testing.TB, s store.Store, c rule.Config) *engine.Engine {
	t.Helper()
	set, err := rule.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(set, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func perMinute(n int64) []rule.Limit { return []rule.Limit{{Limit: sluice.PerMinute(n)}} }

// userFrom stands for authentication: it takes the user from where a test puts it.
func userFrom(ctx context.Context, r *engine.Request) {
	if users := metadata.ValueFromIncomingContext(ctx, "test-user"); len(users) > 0 {
		r.User = users[0]
	}
	r.Attributes = map[string]string{"plan": "free"}
}

func as(t testing.TB, user string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "test-user", user)
}

func TestRulesSeeTheCall(t *testing.T) {
	everything := rule.Match{
		Methods: []string{"POST"}, Hosts: []string{"api.example.com"}, Paths: []string{emptyCall},
		Headers: map[string]string{"User-Agent": "*", "X-Team": "blue"}, IPs: []string{"192.0.2.0/24"},
		Attributes: map[string]string{"plan": "free"},
	}
	synctest.Test(t, func(t *testing.T) {
		limit := sluicegrpc.Rules(newEngine(t, nil, rule.Config{Rules: []rule.Rule{
			{Name: "team-blue", Match: everything, Key: []string{"user"}, Limits: []rule.Limit{{Name: "slow", Limit: sluice.PerMinute(1)}}},
		}}), sluicegrpc.Fill(userFrom))
		w := newWorld(t, limit)
		c := w.client(t, "[::ffff:192.0.2.1]:1")
		for _, user := range []string{"ann-secret", "bob-secret"} {
			ctx := metadata.AppendToOutgoingContext(as(t, user), "x-team", "blue")
			_, err := c.EmptyCall(ctx, new(testpb.Empty))
			wantCode(t, err, codes.OK)
			_, err = c.EmptyCall(ctx, new(testpb.Empty))
			wantCode(t, err, codes.ResourceExhausted)
			retry, quota := detailsOf(err)
			if retry.GetRetryDelay().AsDuration() != time.Minute {
				t.Errorf("retry %v, want 1m", retry)
			}
			if v := quota.GetViolations(); len(v) != 1 || v[0].GetSubject() != "team-blue" || v[0].GetQuotaId() != "slow" || v[0].GetDescription() != "1/m" {
				t.Errorf("violations %v, want rule team-blue, limit slow, 1/m", v)
			}
			if strings.Contains(status.Convert(err).Proto().String(), "secret") {
				t.Errorf("the answer shows the key: %v", status.Convert(err).Proto())
			}
			_, err = c.EmptyCall(as(t, user), new(testpb.Empty)) // of another team: no rule matches
			wantCode(t, err, codes.OK)
		}
	})
}

// Each reason has its code.
func TestReasons(t *testing.T) {
	byUser := rule.Rule{Name: "users", Match: rule.Match{Paths: []string{emptyCall}}, Key: []string{"user"}, Missing: rule.MissingDeny, Limits: perMinute(1)}
	banned := rule.Rule{Name: "closed", Limits: []rule.Limit{{Limit: sluice.PerSecond(0)}}}
	hidden := rule.Rule{Name: "hidden", Limits: []rule.Limit{{Limit: sluice.PerSecond(0)}}, Headers: rule.HeadersNone}
	denies := rule.Rule{Name: "strict", Limits: perMinute(1), OnStoreError: rule.ErrorDeny}
	tests := []struct {
		name   string
		config rule.Config
		store  store.Store
		method string
		code   codes.Code
		tells  bool // the rule
	}{
		{"no_rule", rule.Config{Default: rule.Deny, Rules: []rule.Rule{byUser}}, nil, "/other.Service/Call", codes.PermissionDenied, false},
		{"missing_key", rule.Config{Rules: []rule.Rule{byUser}}, nil, emptyCall, codes.InvalidArgument, false},
		{"ambiguous", rule.Config{Rules: []rule.Rule{byUser}}, nil, "/grpc.testing.TestService%2fEmptyCall/x", codes.InvalidArgument, false},
		{"banned", rule.Config{Rules: []rule.Rule{banned}}, nil, emptyCall, codes.ResourceExhausted, true},
		{"banned, clients are told nothing", rule.Config{Rules: []rule.Rule{hidden}}, nil, emptyCall, codes.ResourceExhausted, false},
		{"unavailable", rule.Config{Rules: []rule.Rule{denies}}, broken{}, emptyCall, codes.Unavailable, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := sluicegrpc.Rules(newEngine(t, tt.store, tt.config))
				proxy := func(any, grpc.ServerStream) error { return status.Error(codes.Unimplemented, "reached") }
				w := newWorld(t, limit, grpc.UnknownServiceHandler(proxy))
				err := w.connect(t, "192.0.2.1:1").Invoke(t.Context(), tt.method, new(testpb.Empty), new(testpb.Empty))
				wantCode(t, err, tt.code)
				retry, quota := detailsOf(err)
				if retry != nil || (quota != nil) != tt.tells {
					t.Errorf("retry %v, quota %v; the rule is to be told: %v", retry, quota, tt.tells)
				}
			})
		})
	}
}

// broken is a store that is down.
type broken struct{}

var errBroken = errors.New("connection refused by 10.1.2.3")

func (broken) Take(context.Context, store.Op, []store.Check) error { return errBroken }

// What is wrong with the store is for us to know, not for clients.
func TestStoreFails(t *testing.T) {
	keyed := sluice.NewKeyed(sluice.PerMinute(1), sluice.WithStore(broken{}))
	limit := sluicegrpc.Keyed(keyed, func(context.Context, *engine.Request) string { return "all" })
	_, err := limit.UnaryServer(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: emptyCall}, nil)
	wantCode(t, err, codes.Unavailable)
	if !errors.Is(err, errBroken) || strings.Contains(err.Error(), "10.1.2.3") {
		t.Errorf("%v must wrap the cause and not show it", err)
	}
}

func TestRulesWait(t *testing.T) {
	queue := rule.Rule{Name: "queue", Limits: perMinute(1), Wait: rule.Duration(90 * time.Second)}
	tests := []struct {
		name string
		opts []sluicegrpc.Option
		code codes.Code
		took time.Duration
	}{
		{"as long as the rule says", nil, codes.OK, time.Minute},
		{"but not longer than Wait says", []sluicegrpc.Option{sluicegrpc.Wait(30 * time.Second)}, codes.ResourceExhausted, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sluicegrpc.Rules(newEngine(t, nil, rule.Config{Rules: []rule.Rule{queue}}), tt.opts...))
				c := w.client(t, "192.0.2.1:1")
				wantCode(t, call(t, c), codes.OK)
				start := time.Now()
				wantCode(t, call(t, c), tt.code)
				if took := time.Since(start); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

func TestRulesOnStreamsAndClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		messages := rule.Rule{Name: "messages", Match: rule.Match{Paths: []string{"/grpc.testing.TestService/*"}}, Key: []string{"ip"}, Limits: perMinute(3)}
		w := newWorld(t, sluicegrpc.Rules(newEngine(t, nil, rule.Config{Rules: []rule.Rule{messages}}), sluicegrpc.PerMessage()))
		n, err := echo(t, w.client(t, "192.0.2.1:1"), 5)
		wantCode(t, err, codes.ResourceExhausted)
		if n != 3 {
			t.Errorf("%d messages passed, want 3", n)
		}

		target := rule.Rule{Name: "target", Match: rule.Match{Hosts: []string{"api.example.com"}}, Limits: perMinute(1)}
		c := w.client(t, "192.0.2.2:1", dialOptions(sluicegrpc.Rules(newEngine(t, nil, rule.Config{Rules: []rule.Rule{target}})))...)
		wantCode(t, call(t, c), codes.OK)
		if err := call(t, c); !errors.Is(err, sluice.ErrLimited) {
			t.Errorf("%v, want a refusal by this process", err)
		}
	})
}
