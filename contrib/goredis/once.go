package sluicegoredis

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// firstKey is where the keys of EVAL and EVALSHA begin: command, script, number of
// keys, keys, arguments.
const firstKey = 3

// once is a command that is sent at most once.
type once struct {
	*redis.IntSliceCmd
}

// newOnce makes the command.
func newOnce(ctx context.Context, name, script string, keys, args []string) once {
	all := make([]any, 0, firstKey+len(keys)+len(args))
	all = append(all, name, script, len(keys))
	for _, key := range keys {
		all = append(all, key)
	}
	for _, arg := range args {
		all = append(all, arg)
	}
	cmd := redis.NewIntSliceCmd(ctx, all...)
	if len(keys) > 0 {
		cmd.SetFirstKeyPos(firstKey)
	}
	return once{cmd}
}

// NoRetry forbids the client to send the command again when it cannot know whether
// it ran.
func (once) NoRetry() bool { return true }

// Clone returns a copy that is sent at most once too.
func (c once) Clone() redis.Cmder {
	return once{c.IntSliceCmd.Clone().(*redis.IntSliceCmd)}
}
