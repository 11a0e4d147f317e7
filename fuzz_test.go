package sluice_test

import (
	"errors"
	"testing"

	"github.com/sluice-limiter/sluice"
)

// FuzzParse: whatever the text, a limit that reads back as itself or a typed
// error, and a limit that was accepted can be used.
func FuzzParse(f *testing.F) {
	for _, text := range algorithms {
		f.Add(text)
	}
	for _, text := range []string{
		"", "unlimited", "0/s", "10r/s", "1e6/mo zone=Europe/Berlin anchor_day=31", "100/d zone=America/Havana",
		"leaky_bucket 1/s burst=5 max_wait=1h1m0.5s", "5/1.5h burst=9", "sliding_log 1e5/w max_log=1e6", "5/3000000000000001us",
		"warm_up 5/s warm_up=1us cold_factor=1e6", "0x1p4/s", "1/s =", "gcra 1/us",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := sluice.Parse(text)
		if err != nil {
			var e *sluice.LimitError
			if !errors.As(err, &e) || e.Reason == "" || limit != (sluice.Limit{}) {
				t.Fatalf("%q: got %+v and the error %v", text, limit, err)
			}
			return
		}
		written := limit.String()
		again, err := sluice.Parse(written)
		if err != nil || again.String() != written {
			t.Fatalf("%q is %q, which is %+v, %v", text, written, again, err)
		}
		a := sluice.NewLimiter(limit, sluice.WithClock(newYear))
		b := sluice.NewLimiter(again, sluice.WithClock(newYear))
		if zoned(a.Limit()) != zoned(b.Limit()) {
			t.Fatalf("%q is %+v, written and read again it is %+v", text, a.Limit(), b.Limit())
		}
		for _, cost := range []int64{1, 3, 1} {
			x, y := a.Decide(cost), b.Decide(cost)
			if x.Allowed != y.Allowed || x.RetryAfter() != y.RetryAfter() || x.Remaining() != y.Remaining() {
				t.Fatalf("%q: %v and %v decide differently", text, limit, again)
			}
		}
	})
}
