package sluicegoredis

import (
	"strings"
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
		for i, want := range []string{"k1", "k2", "a", ""} {
			if got := *c.Args()[firstKey+i].(*string); got != want {
				t.Errorf("argument %d is %q, want %q", i, got, want)
			}
		}
	}
}

// TestAllocations: one for the list, one for the command, two for the name and the
// script, however many arguments.
func TestAllocations(t *testing.T) {
	ctx, args := t.Context(), strings.Split(strings.Repeat("1234 ", 300), " ")
	keys, sha := args[:30], strings.Repeat("f", 40)
	if got := testing.AllocsPerRun(100, func() { newOnce(ctx, "evalsha", sha, keys, args) }); got > 4 {
		t.Errorf("%v allocations", got)
	}
}
