package sluice_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

func TestParse(t *testing.T) {
	day := 24 * time.Hour
	for text, want := range map[string]sluice.Limit{
		"100/s":                                  sluice.PerSecond(100),
		"  100/s  ":                              sluice.PerSecond(100),
		"10r/s":                                  sluice.PerSecond(10),
		"+5/s":                                   sluice.PerSecond(5),
		"100/sec":                                sluice.PerSecond(100),
		"100/minute":                             sluice.PerMinute(100),
		"10/m":                                   sluice.PerMinute(10),
		"10/min":                                 sluice.PerMinute(10),
		"10/hour":                                sluice.PerHour(10),
		"10/day":                                 sluice.PerDay(10),
		"10/w":                                   sluice.Per(10, 7*day),
		"10/2weeks":                              sluice.Per(10, 14*day),
		"10/mo":                                  {Count: 10, Calendar: sluice.Month},
		"10/month":                               {Count: 10, Calendar: sluice.Month},
		"5/10s":                                  sluice.Per(5, 10*second),
		"5/1.5h":                                 sluice.Per(5, 90*time.Minute),
		"5/1h30m":                                sluice.Per(5, 90*time.Minute),
		"5/500us":                                sluice.Per(5, 500*time.Microsecond),
		"5/500µs":                                sluice.Per(5, 500*time.Microsecond),
		"5/2ms":                                  sluice.Per(5, 2*ms),
		"5/2000ns":                               sluice.Per(5, 2*time.Microsecond),
		"1e6/d":                                  sluice.PerDay(1e6),
		"1/3000000000000001us":                   sluice.Per(1, 3000000000000001*time.Microsecond),
		"1/1000000000001ms":                      sluice.Per(1, 1000000000001*ms),
		"0/s":                                    sluice.PerSecond(0),
		"unlimited":                              sluice.Unlimited,
		"gcra 5/s":                               sluice.PerSecond(5).With(sluice.TokenBucket),
		"token_bucket 60/m refill=interval":      {Algorithm: sluice.TokenBucket, Count: 60, Period: time.Minute, Refill: sluice.ByInterval},
		"leaky_bucket 10/s burst=5 max_wait=2s":  {Algorithm: sluice.LeakyBucket, Count: 10, Period: second, Burst: 5, MaxWait: 2 * second},
		"warm_up 9/s warm_up=10s cold_factor=2":  {Algorithm: sluice.WarmUp, Count: 9, Period: second, WarmUp: 10 * second, ColdFactor: 2},
		"fixed_window 5/m start=first_hit":       {Algorithm: sluice.FixedWindow, Count: 5, Period: time.Minute, Start: sluice.FirstHit},
		"fixed_window 5/d zone=Asia/Tokyo":       {Algorithm: sluice.FixedWindow, Count: 5, Calendar: sluice.Day, Zone: "Asia/Tokyo"},
		"5/24h zone=Asia/Tokyo":                  {Count: 5, Calendar: sluice.Day, Zone: "Asia/Tokyo"},
		"1e6/mo zone=UTC anchor_day=15":          {Count: 1e6, Calendar: sluice.Month, Zone: "UTC", AnchorDay: 15},
		"sliding_window 100/m sub_windows=6":     {Algorithm: sluice.SlidingWindow, Count: 100, Period: time.Minute, SubWindows: 6},
		"sliding_window 100/m weighted":          {Algorithm: sluice.SlidingWindow, Count: 100, Period: time.Minute, Weighted: true},
		"sliding_window 100/m weighted=true":     {Algorithm: sluice.SlidingWindow, Count: 100, Period: time.Minute, Weighted: true},
		"sliding_log 200000/m max_log=200000":    {Algorithm: sluice.SlidingLog, Count: 200_000, Period: time.Minute, MaxLog: 200_000},
		"100/s burst=200 max_wait=1h30m0.5s":     {Count: 100, Period: second, Burst: 200, MaxWait: 90*time.Minute + 500*ms},
		"token_bucket\t5/s\n burst=7":            {Algorithm: sluice.TokenBucket, Count: 5, Period: second, Burst: 7},
		"fixed_window 10000/d":                   {Algorithm: sluice.FixedWindow, Count: 10000, Period: day},
		"sliding_window 1/7us":                   {Algorithm: sluice.SlidingWindow, Count: 1, Period: 7 * time.Microsecond},
		"warm_up 100/s warm_up=1m cold_factor=1": {Algorithm: sluice.WarmUp, Count: 100, Period: second, WarmUp: time.Minute, ColdFactor: 1},
	} {
		got, err := sluice.Parse(text)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ text, field, says string }{
		{"", "rate", `such as "100/s burst=200"`},
		{" \t\n", "rate", "missing"},
		{"token_bucket", "rate", "missing"},
		{"token_bucket burst=5", "rate", "missing"},
		{"unlimited burst=5", "rate", "missing"},
		{"unlimited 5/s", "count", "does not apply"},
		{"100", "period", `say per what: 100/s`},
		{"100 burst=5", "period", `say per what: 100/s`},
		{"token_bucket 100", "period", `say per what: 100/s`},
		{"token_buket 5/s", "algorithm", `"token_buket" is unknown (use token_bucket`},
		{"token_buket", "algorithm", "unknown"},
		{"adaptive", "algorithm", "not built yet"},
		{"concurrency 5/s", "algorithm", "NewConcurrency"},
		{"ten/s", "count", `"ten" is no whole number`},
		{"/s", "count", "whole number"},
		{"-5/s", "count", "whole number"},
		{"1.5/s", "count", "whole number"},
		{"1e16/s", "count", "whole number"},
		{"9999999999999999/s", "count", "out of range"},
		{"NaN/s", "count", "whole number"},
		{"Inf/s", "count", "whole number"},
		{"10rr/s", "count", "whole number"},
		{"5/", "period", "no time with a unit"},
		{"5/10", "period", "no time with a unit"},
		{"5/0s", "period", "no time with a unit"},
		{"5/-1s", "period", "no time with a unit"},
		{"5/0h0m", "period", "no time with a unit"},
		{"5/fortnight", "period", "no time with a unit"},
		{"5/1.2.3s", "period", "no time with a unit"},
		{"5/٣s", "period", "no time with a unit"},
		{"5/1e3s", "period", "no time with a unit"},
		{"5/2mo", "period", "mo"},
		{"5/99999999999h", "period", "no time with a unit"},
		{"5/0.5us", "period", "whole microseconds"},
		{"5/s burst=0", "burst", "at least 1"},
		{"5/s burst=-1", "burst", `"-1" cannot be read`},
		{"5/s burst", "burst", "cannot be read"},
		{"5/s burst=2 burst=2", "burst", "given twice"},
		{"5/s max_wait=0s", "max_wait", "cannot be read"},
		{"5/s max_wait=100ns", "max_wait", "whole microseconds"},
		{"5/s max_wait=5", "max_wait", "cannot be read"},
		{"5/s refill=often", "refill", "unknown"},
		{"5/s refill=", "refill", "cannot be read"},
		{"fixed_window 5/m start", "start", "cannot be read"},
		{"5/d zone=", "zone", "cannot be read"},
		{"5/d zone=Mars/Olympus", "zone", `"Mars/Olympus" is unknown`},
		{"5/s zone=UTC", "zone", "does not apply"},
		{"token_bucket 5/mo", "calendar", "does not apply"},
		{"5/mo anchor_day=0", "anchor_day", "at least 1"},
		{"5/mo anchor_day=x", "anchor_day", "cannot be read"},
		{"5/mo anchor_day=32", "anchor_day", "no day of a month"},
		{"sliding_window 5/s sub_windows=0", "sub_windows", "at least 1"},
		{"sliding_window 5/s sub_windows=-3", "sub_windows", "does not divide"},
		{"sliding_window 5/s sub_windows=1001", "sub_windows", "use 10"},
		{"sliding_window 5/s weighted=no", "weighted", `"no" is not true`},
		{"sliding_log 5/s max_log=0", "max_log", "at least 1"},
		{"sliding_log 100001/s", "count", "sliding_window"},
		{"warm_up 5/s", "warm_up", "above 0"},
		{"warm_up 5/s warm_up=1s cold_factor=0", "cold_factor", "at least 1"},
		{"warm_up 5/s warm_up=1s cold_factor=x", "cold_factor", "cannot be read"},
		{"5/s speed=3", "speed", "unknown option (use burst"},
		{"5/s 5/s", "5/s", "unknown option"},
	} {
		got, err := sluice.Parse(c.text)
		fault(t, err, c.field)
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v does not say %q", c.text, err, c.says)
		}
		var e *sluice.LimitError
		if errors.As(err, &e) && e.Limit != c.text || got != (sluice.Limit{}) {
			t.Errorf("%q: got %+v, and the error quotes %q", c.text, got, e.Limit)
		}
	}
}

// TestParseHints: what people write instead of a limit is understood well enough to
// tell them how to write it.
func TestParseHints(t *testing.T) {
	const plain = ", without words and blanks"
	for text, want := range map[string]string{
		"100":                       "say per what: 100/s",
		"fixed_window 100":          "say per what: 100/s",
		"100 burst=5":               "say per what: 100/s",
		"100rpm":                    "write 100/m",
		"100rps":                    "write 100/s",
		"5qps":                      "write 5/s",
		"100 rpm":                   "write 100/m" + plain,
		"100 per minute":            "write 100/m" + plain,
		"100 per minute burst=5":    "write 100/m" + plain,
		"100 requests per second":   "write 100/s" + plain,
		"100 req/s":                 "write 100/s" + plain,
		"100req/s":                  "write 100/s",
		"100 req / sec":             "write 100/s" + plain,
		"100 / s":                   "write 100/s" + plain,
		"100/ s":                    "write 100/s" + plain,
		"100/S":                     "write 100/s",
		"100/mins":                  "write 100/m",
		"10 every 5 minutes":        "write 10/5m" + plain,
		"3 calls a day":             "write 3/d" + plain,
		"sliding_log 3 per hour":    "write 3/h" + plain,
		"1.5/s":                     "write 3/2s",
		"0.5/m":                     "write 1/2m",
		"0.1/10s":                   "write 1/100s",
		"2.50 per second":           "write 5/2s" + plain,
		"0.0000001/s":               "write the limit as a rate",
		"1.5/mo":                    "write the limit as a rate",
		"10/s burst 20":             "write burst=20",
		"10/s burst:20":             "write burst=20",
		"10/s burst: 20":            "write burst=20",
		"10/s max_wait 2s burst=20": "write max_wait=2s",
		"10/s burst=lots":           "write it as in burst=20",
		"10/s burst":                "write it as in burst=20",
		"10/s burst=0":              "leave it out",
		"10/fortnight":              "use us, ms, s",
	} {
		_, err := sluice.Parse(text)
		var e *sluice.LimitError
		if !errors.As(err, &e) || !strings.HasPrefix(e.Hint, want) {
			t.Errorf("%q: got %v, want the hint %q", text, err, want)
		}
	}
}

func TestTextRoundTrip(t *testing.T) {
	r := random(t)
	for range 20_000 {
		limit := randomLimit(r)
		if limit.Validate() != nil {
			continue
		}
		text := limit.String()
		got, err := sluice.Parse(text)
		if err != nil {
			t.Fatalf("%+v: %q: %v", limit, text, err)
		}
		if again := got.String(); again != text {
			t.Fatalf("%+v: %q became %q", limit, text, again)
		}
		if a, b := sluice.NewLimiter(limit).Limit(), sluice.NewLimiter(got).Limit(); zoned(a) != zoned(b) {
			t.Fatalf("%q: %+v became %+v", text, a, b)
		}
	}
}

// zoned writes out that no zone means UTC.
func zoned(l sluice.Limit) sluice.Limit {
	if l.Calendar != "" && l.Zone == "" {
		l.Zone = "UTC"
	}
	return l
}

// randomLimit is often valid and never boring.
func randomLimit(r *rand.Rand) sluice.Limit {
	number := func() int64 { return r.Int64N(1 << r.IntN(44)) }
	period := func() time.Duration {
		units := []time.Duration{time.Microsecond, ms, second, time.Minute, time.Hour, 24 * time.Hour}
		return time.Duration(1+number()%1_000_000) * units[r.IntN(len(units))]
	}
	l := sluice.Limit{Count: number(), Period: period()}
	switch r.IntN(8) {
	case 0, 1:
		l.Burst, l.MaxWait = number(), time.Duration(r.Int64N(1e15))*1000
		l.Algorithm = []sluice.Algorithm{"", sluice.TokenBucket, sluice.LeakyBucket}[r.IntN(3)]
	case 2:
		l.Refill, l.Burst = sluice.ByInterval, number()
	case 3:
		l.Algorithm, l.WarmUp, l.ColdFactor = sluice.WarmUp, period(), r.Float64()*10
	case 4:
		l.Algorithm = sluice.FixedWindow
		l.Start = []sluice.Start{sluice.Aligned, sluice.FirstHit}[r.IntN(2)]
	case 5:
		l.Algorithm, l.SubWindows = sluice.SlidingWindow, r.IntN(12)
		l.Weighted = l.SubWindows == 0
	case 6:
		l.Algorithm, l.MaxLog = sluice.SlidingLog, 100_000+number()
	case 7:
		l.Period, l.Calendar, l.Zone = 0, sluice.Month, []string{"", "UTC", "Asia/Tokyo"}[r.IntN(3)]
		if l.AnchorDay = r.IntN(32); l.AnchorDay == 0 {
			l.Calendar = sluice.Day
		}
	}
	return l
}

func TestJSON(t *testing.T) {
	type config struct {
		Limits map[string]sluice.Limit
		Opt    *sluice.Limit `json:",omitempty"`
	}
	in := config{Limits: map[string]sluice.Limit{"a": sluice.PerSecond(5), "b": sluice.Unlimited}}
	data, err := json.Marshal(in)
	if want := `{"Limits":{"a":"5/s","b":"unlimited"}}`; err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	var out config
	if err := json.Unmarshal([]byte(`{"Limits":{"a":"5/s"},"Opt":"7/m"}`), &out); err != nil || *out.Opt != sluice.PerMinute(7) {
		t.Errorf("got %+v, %v", out, err)
	}
	keep := sluice.PerSecond(5)
	err = json.Unmarshal([]byte(`"5 per second"`), &keep)
	if fault(t, err, "period"); keep != sluice.PerSecond(5) {
		t.Errorf("a bad limit replaced a good one: %v", keep)
	}
	if _, err := json.Marshal(sluice.Limit{}); err == nil {
		t.Error("an invalid limit was written")
	}
}
