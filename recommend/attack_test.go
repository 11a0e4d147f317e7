//go:build !race

package recommend

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
)

// attackers make a log: so many clients, each with so many requests a minute for a while.
func attackers(begin int64, clients, perMinute, minutes int, change func(i int, e *accesslog.Entry)) []accesslog.Entry {
	var entries []accesslog.Entry
	for c := range clients {
		for i := range perMinute * minutes {
			e := accesslog.Entry{
				Time: begin + int64(i)*60e6/int64(perMinute), IP: netip.AddrFrom4([4]byte{10, 66, byte(c >> 8), byte(c)}), Method: "GET", Path: "/", Status: 200,
				Agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/48.0 Safari/537.36",
			}
			change(i, &e)
			entries = append(entries, e)
		}
	}
	return entries
}

// TestAttack: traffic of attackers in a real log does not drive the limit up. It refuses
// nine tenths of what they have above the busiest thousandth of the others, and touches
// at most one in a thousand of these.
func TestAttack(t *testing.T) {
	normal := readLog("wordpress-2016")
	begin := normal[0].Time + 9*day
	pages := func(i int, e *accesslog.Entry) { e.Path = fmt.Sprintf("/%d", i*7919%500) }
	cases := []struct {
		name   string
		attack []accesslog.Entry
	}{
		{"one floods a page", attackers(begin, 1, 600, 30, func(int, *accesslog.Entry) {})},
		{"one reads all pages as a browser would", attackers(begin, 1, 600, 30, pages)},
		{"forty do", attackers(begin, 40, 500, 10, pages)},
		{"eighty try passwords, and get 200", attackers(begin, 80, 480, 10, func(_ int, e *accesslog.Entry) { e.Method, e.Path = "POST", "/wp-login.php" })},
		{"five scan", attackers(begin, 5, 900, 10, func(i int, e *accesslog.Entry) { pages(i, e); e.Status = 404 })},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			traffic := collect(t, sorted(append(slices.Clone(normal), c.attack...)))
			r, err := Run(traffic, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Fits {
				checkAttack(t, traffic, &r.Fits[i])
			}
		})
	}
}

// checkAttack compares what a limit refuses of attackers with what they have above others.
func checkAttack(t *testing.T, traffic *Traffic, f *Fit) {
	from, to := traffic.span()
	whole := traffic.cut(from, to+1, time.Minute)
	network := netip.MustParsePrefix("10.66.0.0/16")
	var peaks []int64
	var bad, others []int
	for i := range whole.spans {
		if network.Contains(traffic.keys[whole.spans[i].key].ip) {
			bad = append(bad, i)
		} else {
			others = append(others, i)
			peaks = append(peaks, whole.spans[i].peak)
		}
	}
	slices.Sort(peaks)
	high := peaks[len(peaks)*999/1000]
	excess := int64(0)
	for _, i := range bad {
		perMinute := map[int64]int64{}
		for _, r := range whole.spans[i].requests {
			perMinute[r.at/60e6]++
		}
		for _, n := range perMinute {
			excess += max(n-high, 0)
		}
	}
	refused, err := whole.judge(f.Limit, bad)
	if err != nil {
		t.Fatal(err)
	}
	touched, err := whole.judge(f.Limit, others)
	if err != nil {
		t.Fatal(err)
	}
	share, keys := float64(refused.denied)/float64(excess), float64(len(touched.touched))/float64(len(others))
	t.Logf("%s: the busiest thousandth has above %d in a minute; refused %.1f %% of the attackers' excess, touched %d of %d others", f.Limit, high, 100*share, len(touched.touched), len(others))
	if share < 0.9 || keys > 0.001 {
		t.Errorf("%s: refused %.1f %% of the excess, touched %.3f %% of the others", f.Limit, 100*share, 100*keys)
	}
}
