package rls_test

import (
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/rls"
)

// These tests are about what envoyproxy/ratelimit does wrong, as its users found out. Each
// shows that it does not happen here.

func TestDefectShadowSwitchesEnforcementOff(t *testing.T) {
	w := newWorld(t, `
domain: d
descriptors:
  - {key: enforced, rate_limit: {unit: hour, requests_per_unit: 3}}
  - {key: watched, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
`, rls.Options{})
	passed := 0
	for range 50 {
		if w.ask(d("enforced=1"), d("watched=1")).GetOverallCode() == 1 {
			passed++
		}
	}
	if passed != 3 {
		t.Errorf("%d of 50 passed a limit of 3", passed)
	}
}

func TestDefectJoinedKeysShareACounter(t *testing.T) {
	w := newWorld(t, `
domain: d
descriptors:
  - {key: a, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: a_b, rate_limit: {unit: hour, requests_per_unit: 1}}
`, rls.Options{})
	w.want(w.ask(d("a=b_c")), true, 0)
	w.want(w.ask(d("a_b=c")), true, 0) // a counter of its own
	w.want(w.ask(d("a=b")), true, 0)   // of the rule a, not of a_b
	w.want(w.ask(d("a=b")), false, 0)
	w.want(w.ask(d("a_b=d")), true, 0)
}

func TestDefectJoinedKeysOfOverrides(t *testing.T) {
	w := newWorld(t, "domain: d\n", rls.Options{})
	w.want(w.ask(override(1, 3, 0, d("a=b_c"))), true, 0)
	w.want(w.ask(override(1, 3, 0, d("a_b=c"))), true, 0)
	w.want(w.ask(override(1, 3, 0, d("a=b_c"))), false, 0)
	w.want(w.ask(override(1, 3, 0, d("a=other"))), true, 0)
}

func TestDefectMetadataIsLost(t *testing.T) {
	for _, flag := range []string{"value_to_metric", "detailed_metric"} {
		w := newWorld(t, "domain: d\ndescriptors:\n  - {key: a, "+flag+": true, metadata: {tier: gold}, rate_limit: {unit: hour, requests_per_unit: 1}}\n", rls.Options{Metadata: true})
		meta := w.ask(d("a=1")).GetDynamicMetadata().AsMap()["metadata"]
		if m, ok := meta.(map[string]any); !ok || m["tier"] != "gold" {
			t.Errorf("%s: metadata is %v", flag, meta)
		}
		if meta := w.ask(d("a=1")).GetDynamicMetadata().AsMap()["metadata"]; meta != nil {
			t.Errorf("%s: metadata of a descriptor that refuses: %v", flag, meta)
		}
	}
}

func TestDefectMonthsHaveThirtyDays(t *testing.T) {
	const monthly = "domain: d\ndescriptors:\n  - {key: a, rate_limit: {unit: month, requests_per_unit: 1}}\n"
	w := newWorld(t, monthly, rls.Options{}) // 27 February, 12:00 UTC
	w.want(w.ask(d("a=1")), true, 0)
	w.pass(36*time.Hour - time.Second)
	w.want(w.ask(d("a=1")), false, 0)
	w.pass(time.Second) // the first of March
	w.want(w.ask(d("a=1")), true, 0)

	berlin := newWorld(t, monthly, rls.Options{Zone: "Europe/Berlin"})
	berlin.want(berlin.ask(d("a=1")), true, 0)
	berlin.pass(35 * time.Hour) // where it is an hour later
	berlin.want(berlin.ask(d("a=1")), true, 0)
}

func TestDefectWeeksBeginOnThursday(t *testing.T) {
	w := newWorld(t, "domain: d\ndescriptors:\n  - {key: w, rate_limit: {unit: week, requests_per_unit: 1}}\n  - {key: y, rate_limit: {unit: year, requests_per_unit: 1}}\n", rls.Options{})
	r := w.ask(d("w=1"), d("y=1")) // Friday, 27 February 2026, 12:00 UTC
	w.want(r, true, 0, 0)
	for i, want := range []time.Duration{60 * time.Hour, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).Sub(start)} {
		if got := r.GetStatuses()[i].GetDurationUntilReset().AsDuration(); got != want {
			t.Errorf("window %d ends in %v, want %v", i, got, want)
		}
	}
	if l := r.GetStatuses(); l[0].GetCurrentLimit().GetUnit() != 7 || l[1].GetCurrentLimit().GetUnit() != 6 {
		t.Errorf("units: %v", l)
	}
	w.pass(60*time.Hour - time.Second)
	w.want(w.ask(d("w=1")), false, 0)
	w.pass(time.Second) // Monday
	w.want(w.ask(d("w=1")), true, 0)
}

func TestDefectDeniedRequestsSpend(t *testing.T) {
	w := newWorld(t, `
domain: d
descriptors:
  - {key: small, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: big, rate_limit: {unit: hour, requests_per_unit: 10}}
  - {key: bucket, rate_limit: {unit: hour, requests_per_unit: 1, algorithm: sliding_log}}
`, rls.Options{})
	w.want(w.ask(d("small=1"), d("big=1")), true, 0, 9)
	for range 20 {
		w.want(w.ask(d("small=1"), d("big=1")), false, 0, 9)
	}
	w.want(w.ask(d("bucket=1")), true, 0)
	for range 4 {
		w.pass(10 * time.Minute)
		w.want(w.ask(d("bucket=1")), false, 0) // a denial does not put off the next chance
	}
	w.pass(20 * time.Minute)
	w.want(w.ask(d("bucket=1")), true, 0)
}
