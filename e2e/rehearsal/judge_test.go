package rehearsal

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// every returns n requests, one every gap, each of which takes 1 ms.
func every(gap time.Duration, n int) (spans []span) {
	for i := range n {
		spans = append(spans, span{time.Duration(i) * gap, time.Duration(i)*gap + ms})
	}
	return spans
}

func TestExcess(t *testing.T) {
	for _, test := range []struct {
		name     string
		admitted []span
		want     int
	}{
		{"nothing", nil, -5},
		{"the burst at once", every(0, 5), 0},
		{"one more", every(0, 6), 1},
		{"the burst, then at the rate", append(every(0, 5), every(100*ms, 20)[1:]...), 0},
		{"at twice the rate", every(50*ms, 20), 6},
		{"slow ones may have been decided at any time", []span{{0, time.Second}, {0, time.Second}, {0, time.Second}, {0, time.Second}, {0, time.Second}, {0, time.Second}}, -5},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := excess(test.admitted, 10, 5); got != test.want {
				t.Errorf("excess %d, want %d", got, test.want)
			}
		})
	}
}

func TestMost(t *testing.T) {
	for _, test := range []struct {
		spans []span
		want  int
	}{
		{nil, 0},
		{[]span{{0, 10}, {10, 20}, {20, 30}}, 1},
		{[]span{{0, 10}, {9, 20}, {5, 6}}, 2},
		{[]span{{0, 100}, {10, 90}, {20, 80}, {85, 95}}, 3},
	} {
		if got := most(test.spans); got != test.want {
			t.Errorf("%v: %d at the same time, want %d", test.spans, got, test.want)
		}
	}
}

// TestProblems shows that every promise is looked at.
func TestProblems(t *testing.T) {
	good := Report{
		Part: "part", Took: time.Second, Offered: 1200, Served: 10, ByGateway: 590, ByShop: 600,
		Orders: 10, DatabaseLimit: 8, DatabasePeak: 8, DatabaseSeen: 8,
	}
	if problems := good.Problems(); len(problems) > 0 {
		t.Errorf("all is good, but: %q", problems)
	}
	for name, change := range map[string]func(*Report){
		"5xx":                      func(r *Report) { r.Errors = 1 },
		"404":                      func(r *Report) { r.Strange = 1 },
		"nothing served":           func(r *Report) { r.Served, r.Orders = 0, 0 },
		"the gateway lets all in":  func(r *Report) { r.ByGateway = 0 },
		"the shop refuses nobody":  func(r *Report) { r.ByShop = 0 },
		"an order was lost":        func(r *Report) { r.Orders = 9 },
		"the database was overrun": func(r *Report) { r.DatabasePeak = 9 },
		"and seen from outside":    func(r *Report) { r.DatabaseSeen = 9 },
		"an instance":              func(r *Report) { r.InstanceExcess = 1 },
		"an address":               func(r *Report) { r.AddressExcess = 1 },
	} {
		bad := good
		if change(&bad); len(bad.Problems()) != 1 {
			t.Errorf("%s: %q, want one problem", name, bad.Problems())
		}
	}
}

// TestCount: what clients get is sorted by who said it.
func TestCount(t *testing.T) {
	r := Report{Took: time.Second}
	r.count([]answer{
		{status: 201, instance: "a", end: ms},
		{status: 201, instance: "a", end: 2 * time.Second},
		{status: 429},
		{status: 429, instance: "a"},
		{status: 503},
		{status: 404},
	})
	want := Report{Took: time.Second, Offered: 6, Served: 2, InTime: 1, ByGateway: 1, ByShop: 1, Errors: 1, Strange: 1, FirstBad: `status 503 of ""`}
	if r != want {
		t.Errorf("counted %+v, want %+v", r, want)
	}
}
