package local

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alibaba/sentinel-golang/api"
	"github.com/alibaba/sentinel-golang/core/config"
	"github.com/alibaba/sentinel-golang/core/flow"
	"github.com/alibaba/sentinel-golang/core/hotspot"
	"github.com/alibaba/sentinel-golang/logging"
)

const sentinelModule = "github.com/alibaba/sentinel-golang"

// sentinelPeers are the two limiters of sentinel-golang: flow rules for a
// resource, hot-spot rules for the values of a parameter.
func sentinelPeers() []Contestant {
	return []Contestant{{
		Name: "sentinel flow", Module: sentinelModule, Model: Windows, Note: "enter and leave",
		Doubt:     "checks before it counts: over-admits under concurrency",
		NewSingle: newSentinelFlow,
	}, {
		Name: "sentinel hot spot", Module: sentinelModule, Model: Windows, Note: "enter and leave",
		NewSingle: asSingle(newSentinelHotspot), NewKeyed: newSentinelHotspot,
	}}
}

// silent is a logger that drops everything.
type silent struct{}

func (silent) Debug(string, ...any)        {}
func (silent) DebugEnabled() bool          { return false }
func (silent) Info(string, ...any)         {}
func (silent) InfoEnabled() bool           { return false }
func (silent) Warn(string, ...any)         {}
func (silent) WarnEnabled() bool           { return false }
func (silent) Error(error, string, ...any) {}
func (silent) ErrorEnabled() bool          { return false }

var _ logging.Logger = silent{}

// startSentinel sets the library up once, without log files and collectors.
var startSentinel = sync.OnceFunc(func() {
	c := config.NewDefaultConfig()
	c.Sentinel.Log.Logger = silent{}
	c.Sentinel.Log.Metric.FlushIntervalSec = 0
	c.Sentinel.Stat.System = config.SystemStatConfig{}
	if err := api.InitWithConfig(c); err != nil {
		panic(err)
	}
})

var sentinelResources atomic.Int64

func newResource() string {
	startSentinel()
	return fmt.Sprintf("bench-%d", sentinelResources.Add(1))
}

type sentinelFlow struct{ resource string }

func newSentinelFlow(q Quota) Single {
	n, d := q.window()
	s := sentinelFlow{newResource()}
	must(flow.LoadRulesOfResource(s.resource, []*flow.Rule{{
		Resource: s.resource, TokenCalculateStrategy: flow.Direct, ControlBehavior: flow.Reject,
		Threshold: float64(n), StatIntervalInMs: uint32(d.Milliseconds()),
	}}))
	return s
}

// Run implements Single.
func (s sentinelFlow) Run(n int) (t Tally) {
	for range n {
		e, blocked := api.Entry(s.resource)
		if blocked == nil {
			e.Exit()
		}
		t.count(blocked == nil)
	}
	return t
}

// Close removes the rule.
func (s sentinelFlow) Close() { must(flow.LoadRulesOfResource(s.resource, nil)) }

type sentinelHotspot struct{ resource string }

func newSentinelHotspot(q Quota, keys int) Keyed {
	n, d := q.window()
	s := sentinelHotspot{newResource()}
	must(hotspot.LoadRulesOfResource(s.resource, []*hotspot.Rule{{
		Resource: s.resource, MetricType: hotspot.QPS, ControlBehavior: hotspot.Reject,
		Threshold: n, DurationInSec: int64(math.Ceil(float64(d) / float64(time.Second))),
		ParamsMaxCapacity: int64(keys + keys/8 + 1),
	}}))
	return s
}

// Run implements Keyed.
func (s sentinelHotspot) Run(seq string) (t Tally) {
	for ; len(seq) >= KeyLen; seq = seq[KeyLen:] {
		e, blocked := api.Entry(s.resource, api.WithArgs(seq[:KeyLen]))
		if blocked == nil {
			e.Exit()
		}
		t.count(blocked == nil)
	}
	return t
}

// Close removes the rule.
func (s sentinelHotspot) Close() { must(hotspot.LoadRulesOfResource(s.resource, nil)) }
