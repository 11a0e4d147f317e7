package sluiceclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	sluiceclient "github.com/sluice-limiter/sluice/contrib/client"
)

// script answers each call with the next of its answers: an error, or a status.
type script struct {
	answers []any
	calls   int
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := s.answers[min(s.calls, len(s.answers)-1)]
	s.calls++
	switch answer := answer.(type) {
	case time.Duration: // no answer before
		select {
		case <-time.After(answer):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	case error:
		return nil, answer
	case int:
		return &http.Response{StatusCode: answer, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
	}
	return nil, io.ErrUnexpectedEOF
}

var (
	refused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	reset   = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// TestAgain: what spends is sent again only if it cannot have arrived.
func TestAgain(t *testing.T) {
	for name, c := range map[string]struct {
		answers     []any
		spend, peek int // how many calls
		works       bool
	}{
		"works":          {answers: []any{200}, spend: 1, peek: 1, works: true},
		"refused once":   {answers: []any{refused, 200}, spend: 2, peek: 2, works: true},
		"refused twice":  {answers: []any{refused, refused, 200}, spend: 3, peek: 3, works: true},
		"refused always": {answers: []any{refused}, spend: 3, peek: 3},
		"broken":         {answers: []any{reset}, spend: 1, peek: 3},
		"cut off":        {answers: []any{io.ErrUnexpectedEOF}, spend: 1, peek: 3},
		"not available":  {answers: []any{503}, spend: 1, peek: 3},
		"bad request":    {answers: []any{400}, spend: 1, peek: 1},
		"timeout":        {answers: []any{time.Hour}, spend: 1, peek: 1},
		"late refusal":   {answers: []any{refused, reset}, spend: 2, peek: 3},
	} {
		t.Run(name, func(t *testing.T) {
			calls := map[string]func(*sluiceclient.Client, context.Context) error{
				"peek": func(c *sluiceclient.Client, ctx context.Context) error {
					_, err := c.Peek(ctx, sluiceclient.Request{})
					return err
				},
				"explain": func(c *sluiceclient.Client, ctx context.Context) error {
					_, err := c.Explain(ctx, sluiceclient.Request{})
					return err
				},
				"ready": func(c *sluiceclient.Client, ctx context.Context) error { return c.Ready(ctx) },
				"check": func(c *sluiceclient.Client, ctx context.Context) error {
					_, err := c.Check(ctx, sluiceclient.Request{})
					return err
				},
				"reserve": func(c *sluiceclient.Client, ctx context.Context) error {
					_, err := c.Reserve(ctx, sluiceclient.Request{})
					return err
				},
				"commit": func(c *sluiceclient.Client, ctx context.Context) error {
					return c.Commit(ctx, sluiceclient.Request{}, "x", 1)
				},
				"refund": func(c *sluiceclient.Client, ctx context.Context) error {
					return c.Refund(ctx, sluiceclient.Request{}, 1)
				},
				"reset": func(c *sluiceclient.Client, ctx context.Context) error { return c.Reset(ctx, sluiceclient.Request{}) },
			}
			for call, do := range calls {
				want := c.spend
				if call == "peek" || call == "explain" || call == "ready" {
					want = c.peek
				}
				synctest.Test(t, func(t *testing.T) {
					s := &script{answers: c.answers}
					client, err := sluiceclient.New("http://x", sluiceclient.HTTPClient(&http.Client{Transport: s}))
					if err != nil {
						t.Fatal(err)
					}
					err = do(client, t.Context())
					if s.calls != want || (err == nil) != c.works {
						t.Errorf("%s: %d calls, want %d; %v", call, s.calls, want, err)
					}
				})
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client, err := sluiceclient.New("http://x", sluiceclient.Timeout(300*time.Millisecond),
			sluiceclient.HTTPClient(&http.Client{Transport: &script{answers: []any{time.Hour}}}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Check(t.Context(), sluiceclient.Request{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}

// TestPauseEnds: no attempt is made that the time does not allow.
func TestPauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []any{refused}}
		client, err := sluiceclient.New("http://x", sluiceclient.Timeout(time.Millisecond), sluiceclient.HTTPClient(&http.Client{Transport: s}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Check(t.Context(), sluiceclient.Request{}); !errors.Is(err, syscall.ECONNREFUSED) || s.calls != 1 {
			t.Errorf("%v, %d calls", err, s.calls)
		}
	})
}
