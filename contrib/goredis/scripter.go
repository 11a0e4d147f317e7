package sluicegoredis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// ErrClient is returned by [New] for clients by which limits would not hold.
var ErrClient = errors.New("not a client for limits")

// Scripter runs scripts through a go-redis client. It is safe for concurrent use.
type Scripter struct {
	client redis.UniversalClient
}

// New returns a Scripter that uses the given client. The client stays the
// caller's: close it when nothing uses it any more.
//
// A [redis.Ring] is refused: it sends a call to the shard of its first key, so that
// the other keys of the call would have a budget on every shard.
func New(client redis.UniversalClient) (*Scripter, error) {
	switch client.(type) {
	case nil:
		return nil, fmt.Errorf("sluicegoredis: there is none: %w", ErrClient)
	case *redis.Ring:
		return nil, fmt.Errorf("sluicegoredis: a Ring keeps the keys of one call on several shards: %w", ErrClient)
	}
	return &Scripter{client}, nil
}

// EvalSha runs a script that the server knows by its SHA-1.
func (s *Scripter) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	return s.run(ctx, newOnce(ctx, "evalsha", sha, keys, args))
}

// Eval runs a script given as text; the server remembers it for EvalSha.
func (s *Scripter) Eval(ctx context.Context, script string, keys, args []string) ([]int64, error) {
	return s.run(ctx, newOnce(ctx, "eval", script, keys, args))
}

// answer is what the client returned.
type answer struct {
	reply []int64
	err   error
}

// run returns when the answer is there or the context ends. The client itself does
// not notice the end while it reads, so it waits in a goroutine of its own; what
// comes too late is dropped.
func (s *Scripter) run(ctx context.Context, cmd once) ([]int64, error) {
	if ctx.Done() == nil {
		a := s.send(ctx, cmd)
		return a.reply, a.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers := make(chan answer, 1)
	go func() { answers <- s.send(ctx, cmd) }()
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Scripter) send(ctx context.Context, cmd once) answer {
	if err := s.client.Process(ctx, cmd); err != nil {
		return answer{err: err}
	}
	return answer{reply: cmd.Val()}
}
