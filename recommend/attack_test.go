//go:build !race

package recommend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
)

// attack is some clients that are busier than others, for a while.
type attack struct {
	clients int
	rate    float64 // a minute, each; they differ by a fifth or so
	minutes int
	bursts  bool // five minutes' worth within ten seconds of every fifth minute
	style   style
}

// style is what the attackers ask for, and as whom.
type style string

const (
	browsing  style = "browsing"  // all pages, as a browser
	hammering style = "hammering" // one page, as a browser
	crawling  style = "crawling"  // all pages, and says that it is a robot
	scanning  style = "scanning"  // what is not there
)

func (a attack) String() string {
	how := "steadily"
	if a.bursts {
		how = "in bursts"
	}
	return fmt.Sprintf("%d %s %s, %.0f/m for %d min", a.clients, a.style, how, a.rate, a.minutes)
}

// entries makes the log of the attack.
func (a attack) entries(begin int64, seed uint64) []accesslog.Entry {
	r := rand.New(rand.NewPCG(seed, 66))
	var entries []accesslog.Entry
	for c := range a.clients {
		rate := a.rate * math.Exp(0.2*r.NormFloat64())
		start := float64(begin) + 600e6*r.Float64()
		for i, at := 0, 0.0; ; i++ {
			at += r.ExpFloat64() * 60e6 / rate
			if at >= float64(a.minutes)*60e6 {
				break
			}
			when := at
			if a.bursts {
				whole, within := math.Modf(at / 300e6)
				when = 300e6*whole + 10e6*within
			}
			entries = append(entries, a.style.entry(int64(start+when)/1e6*1e6, c, r.IntN(500)))
		}
	}
	return entries
}

func (s style) entry(at int64, client, page int) accesslog.Entry {
	e := accesslog.Entry{
		Time: at, IP: netip.AddrFrom4([4]byte{10, 66, byte(client >> 8), byte(client)}), Method: "GET", Path: fmt.Sprintf("/%d", page), Status: 200,
		Agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/48.0 Safari/537.36",
	}
	switch s {
	case hammering:
		e.Method, e.Path = "POST", "/wp-login.php"
	case crawling:
		e.Agent = "somebot/1.0"
	case scanning:
		e.Status = 404
	}
	return e
}

// effect is what a limit does to attackers and to others.
type effect struct {
	limit   sluice.Limit
	excess  int64   // what the attackers have above the busiest thousandth of the others
	refused float64 // of it
	touched float64 // share of the others
}

func (e effect) fine() bool { return e.refused >= 0.9 && e.touched <= 0.001 }

func (e effect) String() string {
	return fmt.Sprintf("%s: %.0f %% refused, touched %.3f %%", e.limit, 100*e.refused, 100*e.touched)
}

// mixed recommends limits for a log with an attack in it.
func mixed(t *testing.T, normal []accesslog.Entry, a attack, seed uint64, algorithms ...sluice.Algorithm) (effects []effect) {
	traffic := collect(t, sorted(append(slices.Clone(normal), a.entries(normal[0].Time+day, seed)...)))
	from, to := traffic.span()
	run := newRunner(t.Context(), traffic, from, to, filled(Options{Seed: seed}))
	whole := traffic.cut(from, to+1, time.Minute)
	for _, algorithm := range algorithms {
		found, err := run.fit.fit(t.Context(), algorithm)
		if err != nil {
			t.Fatal(err)
		}
		effects = append(effects, effectOf(t, whole, found.limit))
	}
	return effects
}

func effectOf(t *testing.T, whole *part, l sluice.Limit) effect {
	network := netip.MustParsePrefix("10.66.0.0/16")
	var peaks []int64
	var bad, others []int
	for i := range whole.spans {
		if network.Contains(whole.traffic.keys[whole.spans[i].key].ip) {
			bad = append(bad, i)
		} else {
			others = append(others, i)
			peaks = append(peaks, whole.spans[i].peak())
		}
	}
	slices.Sort(peaks)
	high, e := peaks[len(peaks)*999/1000], effect{limit: l}
	for _, i := range bad {
		perMinute := map[int64]int64{}
		for _, r := range whole.spans[i].requests {
			perMinute[r.at/60e6]++
		}
		for _, n := range perMinute {
			e.excess += max(n-high, 0)
		}
	}
	refused, err := whole.judge(t.Context(), l, bad)
	if err != nil {
		t.Fatal(err)
	}
	touched, err := whole.judge(t.Context(), l, others)
	if err != nil {
		t.Fatal(err)
	}
	e.refused, e.touched = float64(refused.denied)/float64(max(e.excess, 1)), float64(len(touched.touched))/float64(len(others))
	return e
}

// TestAttack: attackers in a real log do not drive the limit up. It refuses nine tenths of
// what they have above the busiest thousandth of the others, and touches at most one in a
// thousand of these. SLUICE_SOAK tries a grid of them: how busy, how many, and how.
func TestAttack(t *testing.T) {
	const seed = 40
	for _, log := range []struct {
		name    string
		attacks []attack
		grid    []attack
	}{
		{
			name:    "wordpress-2016",
			attacks: []attack{{clients: 1, rate: 234, minutes: 30, style: browsing}, {clients: 150, rate: 351, minutes: 10, style: browsing}},
			grid:    attackGrid(117, []int{1, 10, 100, 300}, browsing, hammering, crawling, scanning),
		},
		{
			name:    "semicomplete-2015",
			attacks: []attack{{clients: 10, rate: 150, minutes: 30, style: browsing}},
			grid:    attackGrid(75, []int{1, 10, 40}, browsing),
		},
	} {
		attacks := log.attacks
		if os.Getenv("SLUICE_SOAK") != "" {
			attacks = log.grid
		}
		for i, a := range attacks {
			effects := mixed(t, readLog(log.name), a, seed+uint64(i), sluice.TokenBucket, sluice.SlidingLog)
			t.Logf("%s, seed %d: %s: %s; %s", log.name, seed+i, a, effects[0], effects[1])
			if !effects[0].fine() {
				t.Errorf("%s: %s: %s", log.name, a, effects[0])
			}
		}
	}
}

// attackGrid are attackers that are busier by some factor than the busiest thousandth. Who
// does more than read is easier to tell, and tried with the first factor only.
func attackGrid(high float64, numbers []int, styles ...style) (all []attack) {
	factors := []float64{1.5, 2, 3, 5, 10}
	for _, style := range styles {
		if style != browsing {
			factors = factors[:1]
		}
		for _, bursts := range []bool{false, true} {
			for _, clients := range numbers {
				for _, times := range factors {
					a := attack{clients: clients, rate: times * high, bursts: bursts, style: style}
					if bursts {
						a.rate /= 5
					}
					a.minutes = min(max(int(400_000/float64(clients)/a.rate), 10), 30)
					all = append(all, a)
				}
			}
		}
	}
	return all
}
