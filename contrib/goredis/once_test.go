package sluicegoredis

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/sluice-limiter/sluice/store/redisstore"
)

var _ redisstore.Scripter = (*Scripter)(nil)

// TestOnce: commands and their copies forbid to be sent again, and tell where
// their keys are.
func TestOnce(t *testing.T) {
	cmd := newOnce(t.Context(), "evalsha", "abc", []string{"k1", "k2"}, []string{"a", ""})
	for _, c := range []redis.Cmder{cmd, cmd.Clone()} {
		if !c.NoRetry() {
			t.Errorf("%T may be sent again", c)
		}
		if c.Name() != "evalsha" || len(c.Args()) != 7 || c.Args()[2] != 2 {
			t.Errorf("%v", c.Args())
		}
		if got, want := c.String(), "evalsha abc 2 k1 k2 a : []"; got != want {
			t.Errorf("hooks that trace commands print %q, want %q", got, want)
		}
	}
}
