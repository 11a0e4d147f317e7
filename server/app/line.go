package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	sluicerueidis "github.com/sluice-limiter/sluice/contrib/rueidis"
)

// line is a connection to Redis that need not be there from the beginning: the client
// can lose one and find it again, but it wants to have one first.
type line struct {
	option rueidis.ClientOption
	logger *slog.Logger
	closed context.Context
	hangUp context.CancelFunc
	tries  sync.WaitGroup
	client atomic.Pointer[sluicerueidis.Scripter] // nil until there is one

	mu     sync.Mutex    // guards all below
	trying chan struct{} // closed when the attempt that runs is over; nil if none does
	tried  time.Time     // when the last one began
	err    error         // why it failed
}

// pause is how long to wait between two attempts.
const pause = 200 * time.Millisecond

var errNotYet = errors.New("not connected to Redis yet")

func newLine(option rueidis.ClientOption, logger *slog.Logger) *line {
	l := &line{option: option, logger: logger}
	l.closed, l.hangUp = context.WithCancel(context.Background())
	return l
}

// try waits for one attempt. That it fails is logged, and no reason not to start.
func (l *line) try(ctx context.Context) {
	_, _ = l.get()
	l.mu.Lock()
	trying := l.trying
	l.mu.Unlock()
	if trying != nil { // else it is over already
		select {
		case <-trying:
		case <-ctx.Done():
		}
	}
	if _, err := l.get(); err != nil {
		l.logger.Warn("Redis cannot be reached: until it is, what rules say in on_store_error decides", "error", err)
	}
}

// get returns the client, or an error and sees to it that there will be one.
func (l *line) get() (*sluicerueidis.Scripter, error) {
	if client := l.client.Load(); client != nil {
		return client, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trying == nil && l.closed.Err() == nil && now().Sub(l.tried) >= pause {
		l.tried, l.trying = now(), make(chan struct{})
		l.tries.Go(l.connect)
	}
	if l.err == nil {
		return nil, errNotYet
	}
	return nil, fmt.Errorf("%w: %w", errNotYet, l.err)
}

func (l *line) connect() {
	client, err := sluicerueidis.Open(l.option)
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.trying)
	l.trying, l.err = nil, err
	switch {
	case err != nil:
	case l.closed.Err() != nil:
		client.Close()
	default:
		l.client.Store(client)
		l.logger.Info("connected to Redis", "addresses", l.option.InitAddress)
	}
}

// EvalSha implements redisstore.Scripter.
func (l *line) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	client, err := l.get()
	if err != nil {
		return nil, err
	}
	return client.EvalSha(ctx, sha, keys, args)
}

// Eval implements redisstore.Scripter.
func (l *line) Eval(ctx context.Context, script string, keys, args []string) ([]int64, error) {
	client, err := l.get()
	if err != nil {
		return nil, err
	}
	return client.Eval(ctx, script, keys, args)
}

func (l *line) close(context.Context) error {
	l.hangUp()
	l.tries.Wait()
	if client := l.client.Load(); client != nil {
		client.Close()
	}
	return nil
}
