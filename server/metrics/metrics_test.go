package metrics_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/metrics"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/split"
)

func set(t *testing.T, text string) *rule.Set {
	t.Helper()
	c, err := rule.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := rule.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// full returns metrics with everything that can be there.
func full(t *testing.T) (*metrics.Metrics, *engine.Engine) {
	t.Helper()
	m := metrics.New(metrics.Build{Version: "v1", Revision: "abc", GoVersion: "go1"})
	e, err := engine.New(set(t, `{"rules":[{"name":"all","limits":["10/s"]},{"name":"each","key":["user"],"limits":["1/s"],"candidate":["2/s"]}]}`), nil, engine.WithObserver(m.Decisions))
	if err != nil {
		t.Fatal(err)
	}
	mem := memstore.New()
	m.Memory(metrics.StoreCluster, 100, mem.Stats)
	m.Memory(metrics.StoreInstance, 200, e.Memory)
	m.Denials(func() redisstore.Stats { return redisstore.Stats{DenialHits: 9} })
	m.Breaker(func() failover.Stats { return failover.Stats{Open: true, Opened: 2, Degraded: 3} })
	m.Instances(split.Fixed{Rank: 0, Live: 4})
	m.Engine(e)
	m.Conditions(rulefile.NewConditions())
	m.InFlight(func() int64 { return 5 }, func() int64 { return 6 })
	m.Connections(func() int64 { return 7 }, func() int64 { return 3 }, 8)
	m.Door("http").Observe(0.001)
	m.InForce("h1")
	m.Reloaded(time.Unix(1, 0))
	m.Load().Sample(time.Unix(0, 0), e.Set(), e.Stats())
	for range 25 {
		if _, err := e.Check(context.Background(), engine.Request{User: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	m.Load().Sample(time.Unix(5, 0), e.Set(), e.Stats())
	if err := m.Store(metrics.LayerRedis, mem).Take(context.Background(), store.Spend, nil); err != nil {
		t.Fatal(err)
	}
	return m, e
}

func TestNamesAreAsPrometheusWants(t *testing.T) {
	m, _ := full(t)
	problems, err := testutil.GatherAndLint(m.Registry())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Every metric is in the documentation, and nothing else is.
func TestDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(sluice_[a-z_]+)").FindAllStringSubmatch(string(data), -1) {
		documented[row[1]] = true
	}
	m, _ := full(t)
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if name := f.GetName(); strings.HasPrefix(name, "sluice_") && !documented[name] {
			t.Errorf("docs/OPERATIONS.md does not tell of %s", name)
		} else {
			delete(documented, name)
		}
	}
	for name := range documented {
		t.Errorf("docs/OPERATIONS.md tells of %s, which does not exist", name)
	}
}

func TestLoad(t *testing.T) {
	m, e := full(t)
	want := `
# HELP sluice_rule_offered_per_second Cost per second of all requests that the rule matched at this instance, over half a minute: the offered load, for autoscalers.
# TYPE sluice_rule_offered_per_second gauge
sluice_rule_offered_per_second{rule="all"} 5
sluice_rule_offered_per_second{rule="each"} 5
# HELP sluice_rule_saturation_ratio Offered load of this instance divided by the tightest limit of the rule, for rules with one budget for all: above 1 requests are refused. Of limits of the scopes cluster and split it is this instance's part: sum it over the instances.
# TYPE sluice_rule_saturation_ratio gauge
sluice_rule_saturation_ratio{rule="all"} 0.5
`
	names := []string{"sluice_rule_offered_per_second", "sluice_rule_saturation_ratio"}
	if err := testutil.GatherAndCompare(m.Registry(), strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	for at := 10; at <= 100; at += 5 { // nobody asks any more
		m.Load().Sample(time.Unix(int64(at), 0), e.Set(), e.Stats())
	}
	quiet := strings.NewReplacer("} 5\n", "} 0\n", "} 0.5\n", "} 0\n").Replace(want)
	if err := testutil.GatherAndCompare(m.Registry(), strings.NewReader(quiet), names...); err != nil {
		t.Error(err)
	}
}

func TestLoadOfRulesThatComeAndGo(t *testing.T) {
	l := metrics.NewLoad()
	at := func(second int64, rules string, stats ...engine.RuleStats) {
		l.Sample(time.Unix(second, 0), set(t, rules), engine.Stats{Rules: stats})
	}
	at(0, `{"rules":[{"name":"a","limits":["1/s"]}]}`, engine.RuleStats{Rule: "a", CostOffered: 100})
	at(5, `{"rules":[{"name":"a","limits":["0/s"]},{"name":"b","limits":["unlimited","20/s","2/m"]}]}`,
		engine.RuleStats{Rule: "a", CostOffered: 10}, engine.RuleStats{Rule: "b", CostOffered: 5, CostAdmitted: 5})
	want := `
# HELP sluice_rule_offered_per_second Cost per second of all requests that the rule matched at this instance, over half a minute: the offered load, for autoscalers.
# TYPE sluice_rule_offered_per_second gauge
sluice_rule_offered_per_second{rule="a"} 2
sluice_rule_offered_per_second{rule="b"} 1
# HELP sluice_rule_saturation_ratio Offered load of this instance divided by the tightest limit of the rule, for rules with one budget for all: above 1 requests are refused. Of limits of the scopes cluster and split it is this instance's part: sum it over the instances.
# TYPE sluice_rule_saturation_ratio gauge
sluice_rule_saturation_ratio{rule="b"} 30
`
	if err := testutil.CollectAndCompare(l, strings.NewReader(want), "sluice_rule_offered_per_second", "sluice_rule_saturation_ratio"); err != nil {
		t.Error(err)
	}
}

func TestReloads(t *testing.T) {
	m := metrics.New(metrics.Build{})
	m.InForce("h1")
	m.Reloaded(time.Unix(10, 0))
	m.ReloadFailed()
	m.InForce("h2")
	m.Reloaded(time.Unix(20, 500e6))
	m.ReloadFailed()
	want := `
# HELP sluice_reload_last_success 1 if the last attempt to read the rules succeeded.
# TYPE sluice_reload_last_success gauge
sluice_reload_last_success 0
# HELP sluice_reload_last_success_timestamp_seconds When rules were last read with success.
# TYPE sluice_reload_last_success_timestamp_seconds gauge
sluice_reload_last_success_timestamp_seconds 20.5
# HELP sluice_reloads_total Attempts to read the rules: success, or failure if what was in force stays.
# TYPE sluice_reloads_total counter
sluice_reloads_total{outcome="failure"} 2
sluice_reloads_total{outcome="success"} 2
# HELP sluice_rules_info Always 1; the label is the hash of the rules in force: instances that share budgets should have the same.
# TYPE sluice_rules_info gauge
sluice_rules_info{hash="h2"} 1
`
	err := testutil.GatherAndCompare(m.Registry(), strings.NewReader(want), "sluice_reload_last_success",
		"sluice_reload_last_success_timestamp_seconds", "sluice_reloads_total", "sluice_rules_info")
	if err != nil {
		t.Error(err)
	}
}

// failing is a store that fails as it is told.
type failing struct{ err error }

func (f failing) Take(context.Context, store.Op, []store.Check) error { return f.err }

func TestErrorsOfTheStore(t *testing.T) {
	m := metrics.New(metrics.Build{})
	for _, err := range []error{
		nil, context.DeadlineExceeded, redisstore.ErrBusy, &rueidis.RedisError{}, errors.New("EOF"), redisstore.ErrVersion,
		store.ErrKey, store.ErrTooMany, context.Canceled, // not the store's
	} {
		if got := m.Store(metrics.LayerRedis, failing{err}).Take(t.Context(), store.Spend, nil); got != err {
			t.Errorf("%v became %v", err, got)
		}
		_ = m.Store(metrics.LayerLease, failing{err}).Take(t.Context(), store.Spend, nil)
	}
	want := `
# HELP sluice_store_errors_total Calls of the layer redis that failed: timeout, busy if too many waited, state if a value cannot be read, script if the server refused it, or connection.
# TYPE sluice_store_errors_total counter
sluice_store_errors_total{kind="busy"} 1
sluice_store_errors_total{kind="connection"} 1
sluice_store_errors_total{kind="script"} 1
sluice_store_errors_total{kind="state"} 1
sluice_store_errors_total{kind="timeout"} 1
# HELP sluice_store_takes_total Calls of a layer of the store: those that leases may answer (lease), and what goes on to Redis (redis), refills of leases included.
# TYPE sluice_store_takes_total counter
sluice_store_takes_total{layer="lease"} 9
sluice_store_takes_total{layer="redis"} 9
`
	if err := testutil.GatherAndCompare(m.Registry(), strings.NewReader(want), "sluice_store_errors_total", "sluice_store_takes_total"); err != nil {
		t.Error(err)
	}
}

// scripter answers nothing.
type scripter struct{}

func (scripter) EvalSha(context.Context, string, []string, []string) ([]int64, error) {
	return nil, nil
}

func (scripter) Eval(context.Context, string, []string, []string) ([]int64, error) { return nil, nil }

func TestCallsAreTimed(t *testing.T) {
	m := metrics.New(metrics.Build{})
	clock := time.Unix(0, 0)
	s := m.Scripter(scripter{}, func() time.Time { clock = clock.Add(10 * time.Millisecond); return clock })
	_, _ = s.EvalSha(t.Context(), "", nil, nil)
	_, _ = s.Eval(t.Context(), "", nil, nil)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{"sluice_store_call_duration_seconds_count 2", "sluice_store_call_duration_seconds_sum 0.02"} {
		if !strings.Contains(answer.Body.String(), line) {
			t.Errorf("%q is missing", line)
		}
	}
}
