package recommend

import (
	"math"
	"testing"
	"time"
)

// TestUpperCount: the bounds of the tables, of which the first is the rule of three.
func TestUpperCount(t *testing.T) {
	for seen, want := range map[int]float64{0: 2.9957, 1: 4.7439, 2: 6.2958, 5: 10.513, 10: 16.962, 50: 63.29} {
		if got := upperCount(seen); math.Abs(got-want) > 0.01 {
			t.Errorf("%d seen: at most %g, want %g", seen, got, want)
		}
	}
}

// TestResampling: bounds lie above what was seen, and further above when it comes from one
// key or one day than when it is spread.
func TestResampling(t *testing.T) {
	traffic := collect(t, visitors(2, 2000, 10))
	p := traffic.cut(midnight, midnight+10*day, time.Minute)
	counted, requests := p.counted()
	draw := newResampling(p, counted, 11)
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

func TestUpperMean(t *testing.T) {
	if got := upperMean([]float64{4, 4, 4, 4, 4}); got != 4 {
		t.Error(got)
	}
	if got := upperMean([]float64{1, 2, 3, 4, 5}); math.Abs(got-(3+2.132*math.Sqrt(0.5))) > 1e-9 {
		t.Error(got)
	}
}
