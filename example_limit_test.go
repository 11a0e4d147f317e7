package sluice_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-limiter/sluice"
)

func ExampleParse() {
	for _, text := range []string{
		"100/s", "10r/s", "100/minute", "5/10s", "1e6/d", "100/s burst=200",
		"leaky_bucket 10/s burst=50 max_wait=2s", "fixed_window 1000/h",
		"1e6/mo zone=Europe/Berlin anchor_day=15", "0/s", "unlimited",
	} {
		limit, err := sluice.Parse(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(limit)
	}
	// Output:
	// 100/s
	// 10/s
	// 100/m
	// 5/10s
	// 1000000/d
	// 100/s burst=200
	// leaky_bucket 10/s burst=50 max_wait=2s
	// fixed_window 1000/h
	// 1000000/mo zone=Europe/Berlin anchor_day=15
	// 0/s
	// unlimited
}

func ExampleParse_error() {
	_, err := sluice.Parse("100")
	fmt.Println(err)

	var fault *sluice.LimitError
	if _, err := sluice.Parse("sliding_window 100/s burst=5"); errors.As(err, &fault) {
		fmt.Println(fault.Field, "|", fault.Reason, "|", fault.Hint)
	}
	fmt.Println(errors.Is(err, sluice.ErrInvalidLimit))
	// Output:
	// sluice: invalid limit "100": period: missing (say per what: 100/s)
	// burst | does not apply to this kind of sliding_window | leave it out
	// true
}

func ExampleLimit_String() {
	fmt.Println(sluice.PerSecond(100))
	fmt.Println(sluice.Every(10 * time.Second))
	fmt.Println(sluice.PerMinute(60).With(sluice.SlidingWindow))
	fmt.Println(sluice.PerDay(1000).InZone("Asia/Tokyo"))
	fmt.Println(sluice.Unlimited)
	// Output:
	// 100/s
	// 1/10s
	// sliding_window 60/m
	// 1000/d zone=Asia/Tokyo
	// unlimited
}

func ExampleLimit_MarshalText() {
	type plan struct {
		Name  string       `json:"name"`
		Limit sluice.Limit `json:"limit"`
	}
	data, err := json.Marshal(plan{"free", sluice.PerMinute(60).WithBurst(10)})
	fmt.Println(string(data), err)

	var p plan
	err = json.Unmarshal([]byte(`{"name": "pro", "limit": "1000/minute"}`), &p)
	fmt.Println(p.Name, p.Limit, err)
	// Output:
	// {"name":"free","limit":"60/m burst=10"} <nil>
	// pro 1000/m <nil>
}

func ExamplePerMonth() {
	// A quota of 1000 per month as it is billed: from the 15th to the 15th, by
	// the clocks in Berlin.
	quota := sluice.PerMonth(1000).InZone("Europe/Berlin").WithAnchorDay(15)
	now := time.Date(2026, time.January, 14, 22, 59, 59, 0, time.UTC)
	limiter := sluice.NewLimiter(quota, sluice.WithClock(func() time.Time { return now }))

	d := limiter.Decide(1000)
	fmt.Println(d.Allowed, d.Remaining(), "left, new month in", d.ResetAfter())
	now = now.Add(time.Second)
	fmt.Println(limiter.Peek().Remaining(), "left on the 15th, 00:00 in Berlin")
	// Output:
	// true 0 left, new month in 1s
	// 1000 left on the 15th, 00:00 in Berlin
}
