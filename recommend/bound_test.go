package recommend

import (
	"testing"
	"time"
)

// TestUpperKeys: what a coin says that falls on heads 7 times of 10, of one more than seen.
func TestUpperKeys(t *testing.T) {
	for seen, want := range map[int]int{0: 3, 1: 4, 9: 9, 99: 57, 4999: 2235} {
		if got := newFuture(seen).keys(confidence); got != want {
			t.Errorf("%d seen: at most %d ahead, want %d", seen, got, want)
		}
	}
}

// TestUpperLost: what each loses counts, and of how many that is known.
func TestUpperLost(t *testing.T) {
	upper := func(keys int, lost float64) float64 {
		return ahead * upperLost(0, severity{keys, lost}, 1)
	}
	// 0, 1, 2… keys with the probabilities of a coin, each of which loses about 7.
	if got := upper(1000, 7000); got < 7*2.5 || got > 7*4.5 {
		t.Errorf("at most %g", got)
	}
	if few, many := upper(5, 35), upper(50, 350); few < 1.1*many {
		t.Errorf("of five keys %g, of fifty %g", few, many)
	}
	if little, much := upper(5, 15), upper(5, 150); much < 9.9*little {
		t.Errorf("%g and %g", little, much)
	}
	if got := upper(0, 0); got != ahead*upperKeys(0) {
		t.Error(got)
	}
}

// TestResampling: bounds lie above what was seen, and further above when it comes from one
// key or one day than when it is spread.
func TestResampling(t *testing.T) {
	traffic := collect(t, visitors(2, 2000, 10))
	p := traffic.cut(midnight, midnight+10*day, time.Minute)
	counted, requests := p.counted()
	draw := newResampling(t.Context(), p, counted, 11)
	many := func(spans, days int) judged {
		j := judged{denied: 100}
		for i := range 100 {
			j.losses = append(j.losses, loss{span: i * spans / 100, day: i * days / 100, denied: 1})
		}
		return j
	}
	seen := 100 / float64(requests)
	spread, oneKey, oneDay := many(100, 10), many(1, 1), many(100, 1)
	if a, b, c := draw.upper(&spread).Requests, draw.upper(&oneKey).Requests, draw.upper(&oneDay).Requests; a < seen || a > 2*seen || b < 2*a || c < 1.3*a {
		t.Errorf("seen %g: spread %g, one key %g, one day %g", seen, a, b, c)
	}
	if none := draw.upper(&judged{}); none != (Rates{}) {
		t.Errorf("of nothing %+v", none)
	}
	sum := 0.0
	for i := range 10_000 {
		sum += draw.times(i%100, i)
	}
	if sum < 9700 || sum > 10_300 {
		t.Errorf("10,000 keys were drawn %g times", sum)
	}
}
