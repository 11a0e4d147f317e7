package redisstore

import "context"

// Scripter runs Lua scripts on a Redis server or cluster. Replies are flat
// arrays of integers. All methods are used by many goroutines at once.
//
// An error of the server keeps its text ("NOSCRIPT …", "READONLY …"), because
// its first word says whether the script has run. A Scripter must never send a
// script again by itself after a timeout or a broken connection: it may have
// run, and would charge twice.
type Scripter interface {
	EvalSha(ctx context.Context, sha string, keys, args []string) ([]int64, error)
	Eval(ctx context.Context, script string, keys, args []string) ([]int64, error)
}
