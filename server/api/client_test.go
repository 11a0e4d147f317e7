package api

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sluiceclient "github.com/sluice-limiter/sluice/contrib/client"
)

// TestClient: the Go client and the server understand each other.
func TestClient(t *testing.T) {
	f := newFake(t, sample, nil)
	server := httptest.NewServer(New(f, Options{Tokens: [][32]byte{HashToken("secret")}}))
	defer server.Close()
	c, err := sluiceclient.New(server.URL, sluiceclient.Token("secret"), sluiceclient.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, r := t.Context(), sluiceclient.Request{Method: "POST", Path: "/login", IP: "192.0.2.1"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	remain := func(want int64) {
		t.Helper()
		d, err := c.Peek(ctx, r)
		must(err)
		if d.Remaining != want {
			t.Errorf("%d remain, want %d", d.Remaining, want)
		}
	}
	d, err := c.Check(ctx, r)
	must(err)
	if !d.Allowed || d.Rule != "login" || d.Limit != "per-minute" || d.Remaining != 4 || d.ResetAfter != 12*time.Second {
		t.Errorf("%+v", d)
	}
	reservation, err := c.Reserve(ctx, sluiceclient.Request{Method: "POST", Path: "/login", IP: "192.0.2.1", Cost: 3})
	must(err)
	remain(0)
	must(reservation.Commit(ctx, 1))
	remain(2)
	if err := reservation.Commit(ctx, 1); !errors.Is(err, sluiceclient.ErrSettled) {
		t.Errorf("second commit: %v", err)
	}
	must(c.Refund(ctx, r, 1))
	remain(3)
	must(c.Reset(ctx, r))
	remain(4)
	all, err := c.CheckAll(ctx, []sluiceclient.Request{r, r, r, r, r, r, {Path: "/api/x", Headers: map[string]string{"x-api-key": "k"}, Length: -1}})
	must(err)
	if last := all[5]; last.Allowed || last.Reason != sluiceclient.Limited || last.RetryAfter != 12*time.Second || all[6].Rule != "api" {
		t.Errorf("%+v", all)
	}
	x, err := c.Explain(ctx, r)
	must(err)
	if x.Decision.Allowed || x.Path != "/login" || len(x.Rules) != 3 || x.Rules[0].Limits[0].Limit != "5/m" || x.Rules[0].Mode != "enforce" {
		t.Errorf("%+v", x)
	}
	must(c.Ready(ctx))
	var problem *sluiceclient.Error
	if _, err := c.Check(ctx, sluiceclient.Request{IP: "nowhere"}); !errors.As(err, &problem) || problem.Status != http.StatusBadRequest ||
		problem.Field != "ip" || problem.Hint == "" || !strings.HasSuffix(problem.Type, ":invalid-field") {
		t.Errorf("%+v", err)
	}
}

func TestClientWithoutToken(t *testing.T) {
	server := httptest.NewServer(New(newFake(t, sample, nil), Options{Tokens: [][32]byte{HashToken("secret")}}))
	defer server.Close()
	c, err := sluiceclient.New(server.URL, sluiceclient.Token("wrong"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Check(t.Context(), sluiceclient.Request{}); !errors.Is(err, sluiceclient.ErrUnauthorized) {
		t.Error(err)
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
