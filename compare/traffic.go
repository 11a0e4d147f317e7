package compare

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
)

// MaxRequests is how many requests a traffic may have.
const MaxRequests = 2_000_000

// Traffic is requests in the order of time.
type Traffic struct {
	Name  string // of the pattern or of the log
	About string // one sentence
	Cut   bool   // of a log only the first MaxRequests were taken

	origin   int64 // where its time begins, µs since 1970
	length   int64 // µs
	requests []request
	keys     []string
}

// request is one of a traffic.
type request struct {
	at  int64 // µs since the origin
	key int32 // number of its key
}

// Requests returns how many there are.
func (t *Traffic) Requests() int { return len(t.requests) }

// pattern makes the instants of requests, in periods from the beginning.
type pattern struct {
	name   string
	length float64 // in periods
	about  string
	make   func(n int, length float64, random *rand.Rand) []float64
}

var patterns = []pattern{
	{"steady", 12, "requests at equal distances, a fifth more than the limit", steady},
	{"edge", 4, "as many as the limit right before the end of a window, and as many right after it", edge},
	{"flash-sale", 12, "little traffic, then ten times the limit at once, which dies away", flashSale},
	{"on-off", 12, "two and a half times the limit for one and a half periods, then silence as long", onOff},
	{"poisson", 12, "requests by chance, on average as many as the limit", poisson},
}

// Patterns returns the names that Pattern knows.
func Patterns() []string {
	names := make([]string, len(patterns))
	for i, p := range patterns {
		names[i] = p.name
	}
	return names
}

// Pattern makes a traffic that suits a limit: so many requests that it matters. The seed
// says which of all that look like this.
func Pattern(name string, limit sluice.Limit, seed uint64) (*Traffic, error) {
	i := slices.IndexFunc(patterns, func(p pattern) bool { return p.name == name })
	if i < 0 {
		return nil, fmt.Errorf("compare: unknown pattern %q: use one of %s, or the name of a log file", name, strings.Join(Patterns(), ", "))
	}
	if limit.Count < 1 || limit.Period < 10*time.Microsecond {
		return nil, fmt.Errorf("compare: no pattern suits the limit %v: give one such as 10/s", limit)
	}
	if limit.Count > MaxRequests/40 {
		return nil, fmt.Errorf("compare: a pattern for the limit %v has too many requests: give a smaller one, such as 1000/s", limit)
	}
	p, period := &patterns[i], limit.Period.Microseconds()
	t := &Traffic{
		Name: name, About: p.about, keys: []string{"all"},
		origin: 1e15 / period * period, length: int64(p.length) * period, // at the start of a window
	}
	for _, at := range p.make(int(limit.Count), p.length, rand.New(rand.NewPCG(seed, 1))) {
		t.requests = append(t.requests, request{at: min(int64(float64(at*float64(period))+0.5), t.length-1)})
	}
	slices.SortFunc(t.requests, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	return t, nil
}

func steady(n int, length float64, _ *rand.Rand) []float64 {
	return evenly(0, length, int(length)*n*6/5)
}

func edge(n int, _ float64, _ *rand.Rand) []float64 { return evenly(1.9, 2.1, 2*n) }

func flashSale(n int, length float64, random *rand.Rand) []float64 {
	return chance(random, length, func(at float64) float64 {
		calm := 0.3 * float64(n)
		if at < 3 {
			return calm
		}
		return max(10*float64(n)*math.Exp(-(at-3)/0.8), calm)
	}, 10*float64(n))
}

func onOff(n int, length float64, random *rand.Rand) []float64 {
	return chance(random, length, func(at float64) float64 {
		if math.Mod(at, 3) < 1.5 {
			return 2.5 * float64(n)
		}
		return 0
	}, 2.5*float64(n))
}

func poisson(n int, length float64, random *rand.Rand) []float64 {
	return chance(random, length, func(float64) float64 { return float64(n) }, float64(n))
}

// evenly returns count instants from from until before to.
func evenly(from, to float64, count int) []float64 {
	out := make([]float64, count)
	for i := range out {
		out[i] = from + (to-from)*float64(i)/float64(count)
	}
	return out
}

// chance returns instants that come by chance, at a rate per period that changes and is
// never above most.
func chance(random *rand.Rand, length float64, rate func(at float64) float64, most float64) (out []float64) {
	for at := random.ExpFloat64() / most; at < length; at += random.ExpFloat64() / most {
		if random.Float64()*most < rate(at) {
			out = append(out, at)
		}
	}
	return out
}
