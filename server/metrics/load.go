package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// Window is the time over which Load tells rates. Sampled more seldom, it is longer.
const Window = 30 * time.Second

// Load tells how much is asked of each rule, whether admitted or not. A limiter hides
// overload from an autoscaler that watches the processor or admitted requests; these
// figures show it.
type Load struct {
	offered, admitted, saturation *prometheus.Desc

	mu      sync.Mutex
	samples []sample // the oldest first
	limits  map[string]float64
}

// sample is what had been counted at one time.
type sample struct {
	at    time.Time
	rules map[string]costs
}

type costs struct{ offered, admitted int64 }

// NewLoad returns figures of nothing.
func NewLoad() *Load {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"rule"}, nil)
	}
	return &Load{
		offered:    desc("sluice_rule_offered_per_second", "Cost per second of all requests that the rule matched at this instance, over half a minute: the offered load, for autoscalers."),
		admitted:   desc("sluice_rule_admitted_per_second", "Cost per second of it that was charged to the rule's limits."),
		saturation: desc("sluice_rule_saturation_ratio", "Offered load of this instance divided by the tightest limit of the rule, for rules with one budget for all: above 1 requests are refused. Of limits of the scopes cluster and split it is this instance's part: sum it over the instances."),
	}
}

// Sample notes what has been counted until now. It is meant to be called every few
// seconds.
func (l *Load) Sample(now time.Time, set *rule.Set, stats engine.Stats) {
	s := sample{at: now, rules: make(map[string]costs, len(stats.Rules))}
	for i := range stats.Rules {
		r := &stats.Rules[i]
		s.rules[r.Rule] = costs{r.CostOffered, r.CostAdmitted}
	}
	limits := map[string]float64{}
	for _, r := range set.Rules() {
		if rate := tightest(&r.Rule); rate > 0 {
			limits[r.Name] = rate
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits
	l.samples = append(l.samples, s)
	for len(l.samples) > 2 && now.Sub(l.samples[1].at) >= Window {
		l.samples = l.samples[1:]
	}
}

// tightest returns how much per second the smallest limit of a rule admits to all
// together, or 0 if each key has a budget of its own or nothing can be said.
func tightest(r *rule.Rule) float64 {
	if len(r.Key) > 0 {
		return 0
	}
	least := 0.0
	for _, limit := range r.Limits {
		if rate := perSecond(limit.Limit); rate > 0 && (least == 0 || rate < least) {
			least = rate
		}
	}
	return least
}

// perSecond returns the rate of a limit, 0 if it has none: unlimited, a ban, or a
// calendar's.
func perSecond(l sluice.Limit) float64 {
	if l.Algorithm == sluice.NoLimit || l.Period <= 0 || l.Calendar != "" {
		return 0
	}
	return float64(l.Count) / l.Period.Seconds()
}

// Describe is for the registry.
func (l *Load) Describe(to chan<- *prometheus.Desc) {
	to <- l.offered
	to <- l.admitted
	to <- l.saturation
}

// Collect is for the registry.
func (l *Load) Collect(to chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.samples) < 2 {
		return
	}
	first, last := &l.samples[0], &l.samples[len(l.samples)-1]
	span := last.at.Sub(first.at).Seconds()
	if span <= 0 {
		return
	}
	for name, now := range last.rules {
		then := first.rules[name] // a rule that is new counts from 0
		offered := rate(then.offered, now.offered, span)
		gauge := func(d *prometheus.Desc, v float64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
		}
		gauge(l.offered, offered)
		gauge(l.admitted, rate(then.admitted, now.admitted, span))
		if limit := l.limits[name]; limit > 0 {
			gauge(l.saturation, offered/limit)
		}
	}
}

// rate is never negative: a rule that was gone in between counts from 0 again.
func rate(then, now int64, span float64) float64 {
	if now < then {
		then = 0
	}
	return float64(now-then) / span
}
