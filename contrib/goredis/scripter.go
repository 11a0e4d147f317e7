package sluicegoredis

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Scripter runs scripts through a go-redis client. It is safe for concurrent use.
type Scripter struct {
	client redis.UniversalClient
}

// New returns a Scripter that uses the given client. The client stays the
// caller's: close it when nothing uses it any more.
func New(client redis.UniversalClient) *Scripter { return &Scripter{client} }

// EvalSha runs a script that the server knows by its SHA-1.
func (s *Scripter) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	return s.run(ctx, "evalsha", sha, keys, args)
}

// Eval runs a script given as text; the server remembers it for EvalSha.
func (s *Scripter) Eval(ctx context.Context, script string, keys, args []string) ([]int64, error) {
	return s.run(ctx, "eval", script, keys, args)
}

func (s *Scripter) run(ctx context.Context, name, script string, keys, args []string) ([]int64, error) {
	cmd := newOnce(ctx, name, script, keys, args)
	if err := s.client.Process(ctx, cmd); err != nil {
		return nil, err
	}
	return cmd.Result()
}
