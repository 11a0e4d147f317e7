package metrics

import (
	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// Denials tells of the denials that are remembered in front of Redis.
func (m *Metrics) Denials(stats func() redisstore.Stats) {
	m.counter("sluice_denial_cache_hits_total", "Calls of the layer redis that a remembered denial answered, so that Redis was not asked.", func() float64 { return float64(stats().DenialHits) })
}

// Breaker tells of what stands between the engine and Redis.
func (m *Metrics) Breaker(stats func() failover.Stats) {
	m.gauge("sluice_breaker_open", "1 while Redis is not asked because it fails: what rules say for that decides.", func() float64 { return number(stats().Open) })
	m.counter("sluice_breaker_opened_total", "How often that began.", func() float64 { return float64(stats().Opened) })
	m.counter("sluice_store_degraded_calls_total", "Calls that were answered without Redis.", func() float64 { return float64(stats().Degraded) })
}

// Instances tells how many there are.
func (m *Metrics) Instances(i split.Instance) {
	m.gauge("sluice_instances", "Instances that live, as far as this one knows: limits of scope split are divided by it.", func() float64 {
		_, live := i.Share()
		return float64(live)
	})
}

// Engine tells of an engine what its observers are not told.
func (m *Metrics) Engine(e *engine.Engine) {
	m.gauge("sluice_shadow_all", "1 while every rule is turned to shadow: nobody is refused.", func() float64 { return number(e.ShadowedAll()) })
	m.gauge("sluice_rules", "Rules in force.", func() float64 { return float64(len(e.Set().Rules())) })
}

// Conditions tells of when: expressions.
func (m *Metrics) Conditions(c *rulefile.Conditions) {
	m.counter("sluice_condition_failures_total", "Evaluations of when: expressions that failed; the rule applies then.", func() float64 { return float64(c.Failed()) })
}

// Connections tells how many clients are connected.
func (m *Metrics) Connections(open, dropped func() int64, limit int64) {
	m.gauge("sluice_connections", "Connections of clients that are open, idle ones included.", func() float64 { return float64(open()) })
	m.gauge("sluice_connections_limit", "How many may be; more take the places of those without a token, or wait to be accepted.", func() float64 { return float64(limit) })
	m.counter("sluice_connections_dropped_total", "Connections that had not shown a token and were closed to make room for others.", func() float64 { return float64(dropped()) })
}

// InFlight tells how busy the server is.
func (m *Metrics) InFlight(inFlight, limit func() int64) {
	m.gauge("sluice_requests_in_flight", "Requests that this server works on.", func() float64 { return float64(inFlight()) })
	m.gauge("sluice_requests_in_flight_limit", "How many it takes before it answers with 503.", func() float64 { return float64(limit()) })
}
