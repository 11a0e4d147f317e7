package rls_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/rls"
)

func TestHeadersTellOfTheTightest(t *testing.T) {
	w := newWorld(t, basic, rls.Options{Headers: rls.Headers{Limit: "RateLimit-Limit", Remaining: "RateLimit-Remaining", Reset: "RateLimit-Reset"}})
	w.pass(500 * time.Millisecond)
	read := func(texts ...string) []string {
		var got []string
		r := request("d")
		for _, text := range texts {
			r.Descriptors = append(r.Descriptors, d(text))
		}
		for _, h := range w.ask(r.GetDescriptors()...).GetResponseHeadersToAdd() {
			got = append(got, h.GetKey()+": "+h.GetValue())
		}
		return got
	}
	for _, step := range []struct {
		ask  []string
		want []string
	}{
		{[]string{"user=ann"}, []string{"RateLimit-Limit: 3", "RateLimit-Remaining: 2", "RateLimit-Reset: 60"}},
		{[]string{"user=bob", "path=/login"}, []string{"RateLimit-Limit: 2", "RateLimit-Remaining: 1", "RateLimit-Reset: 3600"}},
		{[]string{"user=ann", "banned=1"}, []string{"RateLimit-Limit: 0", "RateLimit-Remaining: 0", "RateLimit-Reset: 0"}},
		{[]string{"other=1"}, nil},
	} {
		if got := read(step.ask...); !reflect.DeepEqual(got, step.want) {
			t.Errorf("%v: %q, want %q", step.ask, got, step.want)
		}
	}
}

func TestMetadata(t *testing.T) {
	w := newWorld(t, `
domain: d
descriptors:
  - {key: a, metadata: {tier: gold, n: 3, deep: {x: [1, true]}}, rate_limit: {unit: hour, requests_per_unit: 9}}
  - {key: b, metadata: {tier: silver}, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 0}}
  - {key: c, metadata: {tier: bronze, more: yes}, rate_limit: {unit: hour, requests_per_unit: 9}}
`, rls.Options{Metadata: true})
	got := w.ask(d("a=1 "), hits(1, d("b=2")), d("c=3")).GetDynamicMetadata().AsMap()
	want := map[string]any{
		"domain": "d", "quotaModeEnabled": true,
		"descriptors": []any{
			map[string]any{"entries": []any{"a=1"}},
			map[string]any{"entries": []any{"b=2"}, "hitsAddend": 1.0},
			map[string]any{"entries": []any{"c=3"}},
		},
		"metadata": map[string]any{"tier": "bronze", "n": 3.0, "deep": map[string]any{"x": []any{1.0, true}}, "more": "yes"},
	}
	// The only quota is empty, so all of it is refused: see TestQuotaMode.
	want["quotaModeViolations"] = []any{1.0}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if w := newWorld(t, basic, rls.Options{}); w.ask(d("user=1")).GetDynamicMetadata() != nil {
		t.Error("metadata that nobody asked for")
	}
}
