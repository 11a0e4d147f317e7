package resp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestThrottleSteps follows one key of 5 at once and 1 a second, and some that nothing fits
// into.
func TestThrottleSteps(t *testing.T) {
	start := time.UnixMicro(1_700_000_000_000_000)
	now := start
	memory := memstore.New(memstore.WithClock(func() time.Time { return now }))
	d := newDesk(newDoor(t, func(o *Options) { o.Store = memory }))
	for i, c := range []struct {
		at   time.Duration
		args string
		want [5]int64
	}{
		{0, "k 4 60 60 6", [5]int64{1, 5, 5, -1, 0}}, // never
		{0, "k 4 60 60 9223372036854775807", [5]int64{1, 5, 5, -1, 0}},
		{0, "k 4 60 60", [5]int64{0, 5, 4, -1, 1}},
		{0, "k 4 60 60 4", [5]int64{0, 5, 0, -1, 5}},
		{0, "k 4 60 60", [5]int64{1, 5, 0, 1, 5}},
		{0, "k 4 60 60 5", [5]int64{1, 5, 0, 5, 5}},
		{0, "k 4 60 60 6", [5]int64{1, 5, 0, -1, 5}},
		{0, "k 4 60 60 0", [5]int64{0, 5, 0, -1, 5}},                        // a look is never limited
		{999_000 * time.Microsecond, "k 4 60 60", [5]int64{1, 5, 0, 1, 5}},  // a millisecond early
		{999_001 * time.Microsecond, "k 4 60 60", [5]int64{1, 5, 0, 0, 4}},  // less than that
		{1000 * time.Millisecond, "k 4 60 60", [5]int64{0, 5, 0, -1, 5}},    // in time
		{1500 * time.Millisecond, "k 4 60 60 -2", [5]int64{0, 5, 2, -1, 3}}, // two are given back
		{1500 * time.Millisecond, "k 4 60 60 -9", [5]int64{0, 5, 5, -1, 0}}, // no more than full
		{1500 * time.Millisecond, "k 4 60 60 -9223372036854775808", [5]int64{0, 5, 5, -1, 0}},
		{1500 * time.Millisecond, "k +4 +60 +60 +1", [5]int64{0, 5, 4, -1, 1}},
		{1500 * time.Millisecond, "other 4 60 60", [5]int64{0, 5, 4, -1, 1}}, // a key of its own
		{1500 * time.Millisecond, "none -1 60 60", [5]int64{1, 0, 0, -1, 0}}, // nothing fits
		{1500 * time.Millisecond, "none -3 60 60", [5]int64{1, -2, 0, -1, 0}},
		{1500 * time.Millisecond, "none -1 60 60 0", [5]int64{0, 0, 0, -1, 0}},
		{1500 * time.Millisecond, "user123 15 30 60", [5]int64{0, 16, 15, -1, 2}}, // of the documentation
	} {
		now = start.Add(c.at)
		if got := d.ask5(t, append([]string{"CL.THROTTLE"}, strings.Fields(c.args)...)...); got != c.want {
			t.Errorf("step %d: %v: %s answers %v, want %v", i, c.at, c.args, got, c.want)
		}
	}
}

// TestThrottleKeys: keys of any length and content are kept apart, from each other and
// from those of rules.
func TestThrottleKeys(t *testing.T) {
	d := newDesk(newDoor(t, nil))
	long := strings.Repeat("x", 1100)
	sum := sha256.Sum256([]byte(long))
	for _, key := range []string{hex.EncodeToString(sum[:]), "a", "A", "", "login|192.0.2.1", "{a}b", "a\x00", long, long + "y", long[:1012], long[:1013]} {
		if got := d.ask5(t, "CL.THROTTLE", key, "0", "1", "100"); got[0] != 0 {
			t.Errorf("the key %.20q is not new", key)
		}
		if got := d.ask5(t, "CL.THROTTLE", key, "0", "1", "100"); got[0] != 1 {
			t.Errorf("the key %.20q is not kept", key)
		}
	}
}

// TestThrottleErrors: every error by its text.
func TestThrottleErrors(t *testing.T) {
	usageText := "-Cell error: Usage: cl.throttle <key> <max_burst> <count per period> <period> [<quantity>]\r\n"
	door := newDoor(t, nil)
	for line, want := range map[string]string{
		"CL.THROTTLE":                           usageText,
		"CL.THROTTLE k 1 1":                     usageText,
		"CL.THROTTLE k 1 1 1 1 1":               usageText,
		"CL.THROTTLE k x 1 1":                   "-Cell error: Couldn't parse as integer: x\r\n",
		"CL.THROTTLE k 1 1.5 1":                 "-Cell error: Couldn't parse as integer: 1.5\r\n",
		`CL.THROTTLE k 1 1 ""`:                  "-Cell error: Couldn't parse as integer: \r\n",
		`CL.THROTTLE k 1 1 1 " 1"`:              "-Cell error: Couldn't parse as integer:  1\r\n",
		`CL.THROTTLE k 1 1 1 "a\r\n+OK"`:        "-Cell error: Couldn't parse as integer: a??+OK\r\n",
		"CL.THROTTLE k 1 1 1_0":                 "-Cell error: Couldn't parse as integer: 1_0\r\n",
		"CL.THROTTLE k 9223372036854775808 1 1": "-Cell error: Couldn't parse as integer: 9223372036854775808\r\n",
		"CL.THROTTLE k 1 0 1":                   "-Cell error: Zero rates are not supported\r\n",
		"CL.THROTTLE k 1 1 0":                   "-Cell error: Zero rates are not supported\r\n",
		"CL.THROTTLE k 1 -1 1":                  "-Cell error: Negative rates are not supported\r\n",
		"CL.THROTTLE k 1 1 -1":                  "-Cell error: Negative rates are not supported\r\n",
		"CL.THROTTLE k 9223372036854775807 1 1": "-Cell error: max_burst is above 1e15\r\n",
		"CL.THROTTLE k 1 1 9223372036854775807": "-Cell error: period is above 100 years\r\n",
		"CL.THROTTLE k 1 9999999999 1":          "-Cell error: rate above 1e9 per second\r\n",
		"CL.THROTTLE k 1000000 1 1000000":       "-Cell error: full recovery takes more than 100 years\r\n",
	} {
		if got := say(t, door, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	door = newDoor(t, func(o *Options) { o.Store = broken{errors.New("no\nanswer")} })
	for _, line := range []string{"CL.THROTTLE k 1 1 1", "CL.THROTTLE k 1 1 1 -1"} {
		if got, want := say(t, door, line), "-Cell error: could not be decided: no?answer\r\n"; got != want {
			t.Errorf("a broken store: %q, want %q", got, want)
		}
	}
}

// keeper is a store that keeps keys after it has answered, as leases do.
type keeper struct{ keys []string }

func (k *keeper) Take(_ context.Context, _ store.Op, checks []store.Check) error {
	k.keys = append(k.keys, checks[0].Key)
	return nil
}

// TestThrottleKeysStay: a store may keep a key, and ask for it when the request is over.
func TestThrottleKeysStay(t *testing.T) {
	k := &keeper{}
	say(t, newDoor(t, func(o *Options) { o.Store = k }), "CL.THROTTLE alice 1 1 1\r\nCL.THROTTLE bobby 1 1 1\r\n")
	if want := []string{"cl.throttle:alice", "cl.throttle:bobby"}; !slices.Equal(k.keys, want) {
		t.Errorf("the store has %q, want %q", k.keys, want)
	}
}
