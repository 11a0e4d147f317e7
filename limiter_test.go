package sluice_test

import (
	"math"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

// step is one AllowN of a table: the times are since start.
type step struct {
	at   time.Duration
	n    int
	want bool
}

func run(t *testing.T, l *sluice.Limiter, steps []step) {
	t.Helper()
	for i, s := range steps {
		if got := l.AllowN(start.Add(s.at), s.n); got != s.want {
			t.Errorf("step %d: AllowN(%v, %d) = %v, want %v", i, s.at, s.n, got, s.want)
		}
	}
}

func TestBurstAndRefill(t *testing.T) {
	for name, c := range map[string]struct {
		limit string
		steps []step
	}{
		"one at a time": {"10/s burst=1", []step{
			{0, 1, true}, {0, 1, false}, {0, 1, false}, {100 * ms, 1, true}, {100 * ms, 1, false}, {200 * ms, 1, true},
		}},
		"a burst of three": {"10/s burst=3", []step{
			{0, 2, true},
			{0, 1, true},
			{0, 1, false},
			{100 * ms, 4, false},
			{100 * ms, 1, true},
			{100 * ms, 1, false},
			{200 * ms, 1, true},
			{300 * ms, 1, true},
			{300 * ms, 1, false},
			{10 * second, 3, true},
			{10 * second, 1, false},
		}},
		"what is refused spends nothing": {"10/s burst=3", []step{
			{0, 4, false}, {0, 4, false}, {0, 3, true}, {0, 1, false},
		}},
		"the clock goes back": {"10/s burst=2", []step{
			{100 * ms, 1, true}, {0, 1, false}, {0, 1, false}, {100 * ms, 1, true}, {100 * ms, 1, false}, {200 * ms, 1, true},
		}},
		"before the limiter was made": {"10/s burst=2", []step{
			{-time.Hour, 1, true}, {-time.Hour, 1, true}, {-time.Hour, 1, false}, {100*ms - time.Hour, 1, true}, {0, 2, true},
		}},
		"no lost fractions": {"3/s burst=2", []step{
			{0, 2, true},
			{333333 * time.Microsecond, 1, false},
			{333334 * time.Microsecond, 1, true},
			{666666 * time.Microsecond, 1, false},
			{666667 * time.Microsecond, 1, true},
			{second, 1, true},
			{1333333 * time.Microsecond, 1, false},
		}},
		"nothing": {"0/s", []step{{0, 1, false}, {time.Hour, 1, false}, {0, 0, false}}},
		"all":     {"unlimited", []step{{0, 1, true}, {0, 1e9, true}, {-time.Hour, 1, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := limiter(c.limit)
			run(t, l, c.steps)
		})
	}
}

// TestSystemClock: explicit times work on the machine's own clock as well.
func TestSystemClock(t *testing.T) {
	l := sluice.NewLimiter(sluice.PerHour(2))
	now := time.Now()
	if !l.AllowN(now, 2) || l.AllowN(now.Add(29*time.Minute), 1) || !l.AllowN(now.Add(31*time.Minute), 1) {
		t.Error("explicit times are not what they say")
	}
	if !l.AllowN(now.Round(0).Add(2*time.Hour), 2) {
		t.Error("a time without a monotonic reading is not understood")
	}
	if !sluice.NewLimiter(sluice.PerHour(1)).AllowN(time.Time{}, 1) {
		t.Error("the zero time is denied")
	}
}

func TestBadCostsAreDenied(t *testing.T) {
	for _, text := range append([]string{"0/s", "unlimited", "5/d zone=UTC"}, algorithms...) {
		l, clock := limiter(text)
		for _, n := range []int{-1, math.MinInt} {
			if r := l.ReserveN(clock.Now(), n); l.AllowN(clock.Now(), n) || r.OK() || r.Delay() != sluice.InfDuration {
				t.Errorf("%s: %d was allowed or reserved", text, n)
			}
		}
		for _, cost := range []int64{-1, math.MinInt64, 1e15 + 1, math.MaxInt64} {
			if d := l.Decide(cost); d.Allowed || d.RetryAfter() != 0 {
				t.Errorf("%s: %d was allowed, or retry after %v", text, cost, d.RetryAfter())
			}
			l.Refund(cost)
		}
		if text != "0/s" && !l.Allow() {
			t.Errorf("%s: bad costs left a trace", text)
		}
	}
}

// TestBadRefunds take nothing away.
func TestBadRefunds(t *testing.T) {
	for _, text := range []string{"10/s", "999983/s burst=10", "fixed_window 10/s", "sliding_window 10/s", "sliding_log 10/s"} {
		l, _ := limiter(text)
		l.Decide(4)
		l.Refund(-3)
		l.Refund(0)
		if l.Tokens() != 6 {
			t.Errorf("%s: %v left, want 6", text, l.Tokens())
		}
		l.Refund(math.MaxInt64)
		if l.Tokens() != 10 {
			t.Errorf("%s: %v left, want 10", text, l.Tokens())
		}
	}
}

func TestReasons(t *testing.T) {
	for text, want := range map[string]string{"5/s": "never", "fixed_window 5/s": "never", "0/s": "banned", "sliding_log 5/s": "never"} {
		l, _ := limiter(text)
		d := l.Decide(6)
		if d.Reason.String() != want || d.RetryAfter() != 0 || d.Limit() != l.Limit() {
			t.Errorf("%s: got %v, retry %v, by %v", text, d.Reason, d.RetryAfter(), d.Limit())
		}
	}
	l, _ := limiter("5/s")
	if d := l.Decide(5); d.Reason != 0 || d.Reason.String() != "" {
		t.Errorf("allowed with reason %v", d.Reason)
	}
	if d := l.Decide(1); d.Reason != sluice.Limited || d.Reason.String() != "limited" || d.RetryAfter() != 200*ms {
		t.Errorf("got %v, retry after %v", d.Reason, d.RetryAfter())
	}
}

func TestZeroValues(t *testing.T) {
	var d sluice.Decision
	if d.Allowed || d.Remaining() != 0 || d.RetryAfter() != 0 || d.ResetAfter() != 0 || d.Wait() != 0 || d.Limit() != (sluice.Limit{}) {
		t.Error("the zero Decision says something")
	}
	var r sluice.Reservation
	r.Cancel()
	if r.OK() || r.Delay() != sluice.InfDuration || r.DelayFrom(start) != sluice.InfDuration {
		t.Error("the zero Reservation is OK")
	}
	if (&sluice.LimitedError{}).Error() == "" {
		t.Error("the zero LimitedError has no text")
	}
}

// TestEveryAlgorithm: the verbs mean the same for all.
func TestEveryAlgorithm(t *testing.T) {
	for _, text := range algorithms {
		t.Run(text, func(t *testing.T) {
			l, clock := limiter(text)
			full := l.Peek()
			if !full.Allowed || full.Remaining() < 1 || float64(full.Remaining()) != l.Tokens() || l.TokensAt(clock.Now()) != l.Tokens() {
				t.Fatalf("fresh: allowed %v, remaining %d, tokens %v", full.Allowed, full.Remaining(), l.Tokens())
			}
			n := 0
			for l.Allow() {
				n++
			}
			d := l.Decide(1)
			if n < 1 || n > 11 || d.Allowed || d.RetryAfter() <= 0 || d.ResetAfter() < d.RetryAfter() {
				t.Fatalf("after %d: %v, retry after %v, reset after %v", n, d.Allowed, d.RetryAfter(), d.ResetAfter())
			}
			clock.Add(d.RetryAfter() - time.Microsecond)
			if l.Peek().Allowed || l.Allow() {
				t.Error("allowed a microsecond too early")
			}
			clock.Add(time.Microsecond)
			if !l.Peek().Allowed || !l.Allow() {
				t.Error("RetryAfter lied")
			}
			l.Refund(1)
			if !l.Allow() {
				t.Error("a refund gave nothing back")
			}
			l.Reset()
			if l.Tokens() != float64(full.Remaining()) {
				t.Errorf("after a reset %v, want %d", l.Tokens(), full.Remaining())
			}
		})
	}
}

func TestBurst(t *testing.T) {
	for text, want := range map[string]int{"5/s": 5, "5/s burst=3": 3, "5/s burst=9": 9, "fixed_window 7/s": 7, "0/s": 0} {
		if l, _ := limiter(text); l.Burst() != want {
			t.Errorf("%s: got %d, want %d", text, l.Burst(), want)
		}
	}
}
