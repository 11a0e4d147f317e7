package replay_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

func ExamplePlayer() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{
		{Name: "login", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerMinute(1).With(sluice.SlidingLog)}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	p, err := replay.NewPlayer(set, start.UnixMicro())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	for _, after := range []time.Duration{0, 59 * time.Second, time.Minute} {
		d, err := p.Decide(start.Add(after).UnixMicro(), &rule.Request{IP: netip.MustParseAddr("192.0.2.1")})
		fmt.Println(after, d.Allowed, d.RetryAfter(), err)
	}
	// Output:
	// 0s true 0s <nil>
	// 59s false 1s <nil>
	// 1m0s true 0s <nil>
}
