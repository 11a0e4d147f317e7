package sluiceclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// call is one thing that the server is asked.
type call struct {
	op     string
	method string // POST if empty
	path   string
	body   any
	spends bool // must not arrive twice
}

// How often a call is tried, the wait before the second attempt, which doubles, and how
// much of an answer is read.
const (
	attempts   = 3
	firstPause = 50 * time.Millisecond
	mostRead   = 16 << 20
)

// do makes a call and reads the answer into reply, if there is one to read.
func (c *Client) do(ctx context.Context, k *call, reply any) error {
	var body []byte
	if k.body != nil {
		var err error
		if body, err = json.Marshal(k.body); err != nil {
			return fmt.Errorf("sluiceclient: %s: %w", k.op, err)
		}
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, k, body, reply)
		if err == nil {
			return nil
		}
		if attempt == attempts || !again(k, err) || !pause(ctx, attempt) {
			return fmt.Errorf("sluiceclient: %s: %w", k.op, err)
		}
	}
}

// again reports whether a call may be tried once more: if it cannot have arrived or
// does no harm, and that may help.
func again(k *call, err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	if k.spends || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var problem *Error
	if errors.As(err, &problem) {
		return problem.Status == http.StatusServiceUnavailable || problem.Status == http.StatusBadGateway
	}
	return true // a connection that broke
}

// pause waits before the next attempt, for a time that differs between clients.
func pause(ctx context.Context, attempt int) bool {
	wait := firstPause << (attempt - 1)
	timer := time.NewTimer(wait/2 + rand.N(wait))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// once makes one attempt.
func (c *Client) once(ctx context.Context, k *call, body []byte, reply any) error {
	method := k.method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+k.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, mostRead))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return problemOf(res, answer)
	}
	if reply == nil {
		return nil
	}
	if err := json.Unmarshal(answer, reply); err != nil {
		return fmt.Errorf("the answer is no JSON of a sluice server (status %d): %w", res.StatusCode, err)
	}
	return nil
}
