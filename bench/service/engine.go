package service

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// ample never refuses, so that the way of an allowed request is measured.
var ample = sluice.PerSecond(1_000_000).WithBurst(1 << 40)

// three are the rules that match every request of these cases.
func three() []rule.Rule {
	limits := []rule.Limit{{Limit: ample}}
	return []rule.Rule{
		{Name: "everybody", Key: []string{"ip"}, Limits: limits},
		{Name: "orders", Match: rule.Match{Methods: []string{"POST"}, Paths: []string{"/api/orders/{id}"}}, Key: []string{"user"}, Limits: limits},
		{Name: "tenant", Match: rule.Match{Hosts: []string{"api.example.com"}, Paths: []string{"/api/*"}}, Key: []string{"header:X-Tenant", "method"}, Limits: limits},
	}
}

// filler is a rule that does not match them: of each kind of match as many.
func filler(i int) rule.Rule {
	r := rule.Rule{Name: fmt.Sprintf("filler-%d", i), Key: []string{"ip"}, Limits: []rule.Limit{{Limit: ample}}}
	switch i % 5 {
	case 0:
		r.Match.Paths = []string{fmt.Sprintf("/api/resource-%d/{id}", i)}
	case 1:
		r.Match.Hosts = []string{fmt.Sprintf("tenant-%d.example.com", i)}
	case 2:
		r.Match.IPs = []string{fmt.Sprintf("10.%d.%d.0/24", i/256%256, i%256)}
	case 3:
		r.Match.Headers = map[string]string{"X-Tenant": fmt.Sprintf("tenant-%d", i)}
	case 4:
		r.Match.Methods, r.Match.Paths = []string{"DELETE"}, []string{fmt.Sprintf("/v%d/*", i)}
	}
	return r
}

func newEngine(rules int, opts ...engine.Option) (*engine.Engine, error) {
	c := rule.Config{Rules: three()}
	for i := len(c.Rules); i < rules; i++ {
		c.Rules = append(c.Rules, filler(i))
	}
	set, err := rule.Compile(c)
	if err != nil {
		return nil, err
	}
	return engine.New(set, nil, opts...)
}

// requests are as many clients, each with another address, user and order.
func requests(n int) []engine.Request {
	header := http.Header{"X-Tenant": {"acme"}}
	rs := make([]engine.Request, n)
	for i := range rs {
		rs[i] = engine.Request{
			Method: "POST", Host: "api.example.com", Path: fmt.Sprintf("/api/orders/%d", i),
			IP: netip.AddrFrom4([4]byte{192, 0, byte(i >> 8), byte(i)}), User: fmt.Sprintf("user-%d", i), Header: header,
		}
	}
	return rs
}

func checking(e *engine.Engine) func(int) {
	rs, ctx, at := requests(1000), context.Background(), 0
	return func(n int) {
		for range n {
			if at++; at == len(rs) {
				at = 0
			}
			if d, err := e.Check(ctx, rs[at]); err != nil || !d.Allowed {
				panic(fmt.Sprint("engine: not allowed: ", d.Reason, err))
			}
		}
	}
}

// engineRules lets the number of rules grow.
func engineRules() lineup {
	return lineup{
		name: "engine-rules",
		says: "One `Check` of a request that matches three rules, each with a key of its own, in process. The others match by path, host, address, header or method and path.",
		make: func() ([]*entrant, error) {
			var es []*entrant
			for _, rules := range []int{10, 1000, 10_000} {
				e, err := newEngine(rules)
				if err != nil {
					return nil, err
				}
				es = append(es, &entrant{name: fmt.Sprintf("%d rules", rules), run: checking(e)})
			}
			return append(es, threeKeyed()), nil
		},
	}
}

// threeKeyed is the floor: three decisions whose keys are known.
func threeKeyed() *entrant {
	var keys [3][]string
	var limiters [3]*sluice.Keyed
	for i := range limiters {
		limiters[i] = sluice.NewKeyed(ample)
		for k := range 1000 {
			keys[i] = append(keys[i], fmt.Sprintf("rule-%d|user-%d", i, k))
		}
	}
	ctx, at := context.Background(), 0
	return &entrant{name: "three Keyed.Allow", note: "no matching, no keys to build, not all or nothing", run: func(n int) {
		for range n {
			if at++; at == 1000 {
				at = 0
			}
			for i, l := range limiters {
				if d, err := l.Allow(ctx, keys[i][at]); err != nil || !d.Allowed {
					panic("keyed: not allowed")
				}
			}
		}
	}}
}

type counting struct{ n uint64 }

// Observe implements [engine.Observer].
func (c *counting) Observe(e *engine.Event) { c.n += uint64(len(e.Outcomes)) }

// engineObserver shows what being told of every decision costs.
func engineObserver() lineup {
	return lineup{
		name: "engine-observer", over: true,
		says: "The same with 1,000 rules, and with an observer that counts.",
		make: func() ([]*entrant, error) {
			bare, err := newEngine(1000)
			if err != nil {
				return nil, err
			}
			observed, err := newEngine(1000, engine.WithObserver(&counting{}))
			if err != nil {
				return nil, err
			}
			return []*entrant{{name: "no observer", run: checking(bare)}, {name: "an observer", run: checking(observed)}}, nil
		},
	}
}
