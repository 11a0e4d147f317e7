package sluicerueidis

import (
	"context"
	"strconv"

	"github.com/redis/rueidis"
)

// Scripter runs scripts through a rueidis client. It is safe for concurrent use.
type Scripter struct {
	client rueidis.Client
}

// New returns a Scripter that uses the given client, whose ConnLifetime must not
// be set. The client stays the caller's: close it when nothing uses it any more.
func New(client rueidis.Client) *Scripter { return &Scripter{client} }

// EvalSha runs a script that the server knows by its SHA-1.
func (s *Scripter) EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error) {
	return s.run(ctx, "EVALSHA", sha, keys, args)
}

// Eval runs a script given as text; the server remembers it for EvalSha.
func (s *Scripter) Eval(ctx context.Context, script string, keys, args []string) ([]int64, error) {
	return s.run(ctx, "EVAL", script, keys, args)
}

// run sends one command, once. Only the first key decides on the slot: the
// builder would panic on keys of two slots, while the server answers CROSSSLOT.
func (s *Scripter) run(ctx context.Context, command, script string, keys, args []string) ([]int64, error) {
	first := min(1, len(keys))
	cmd := s.client.B().Arbitrary(command, script, strconv.Itoa(len(keys))).
		Keys(keys[:first]...).Args(keys[first:]...).Args(args...).Build()
	return s.client.Do(ctx, cmd).AsIntSlice()
}

// Close closes the client and with it all connections.
func (s *Scripter) Close() { s.client.Close() }
