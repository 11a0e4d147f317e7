package recommend

import (
	"errors"
	"hash/maphash"
	"iter"
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// ruleName is what the recommended rule is called unless it has a name.
const ruleName = "recommended"

// Traffic is what the keys of one rule did, in the order of time: some 40 bytes for each
// request.
type Traffic struct {
	rule      rule.Rule
	unmatched int64 // requests that the rule is not for
	keys      []keyFacts
	first     []int // requests of key i stand from first[i] to first[i+1]
	requests  []request
	addresses addresses
}

// keyFacts is what is known of a key beside its requests.
type keyFacts struct {
	name   string
	ip     netip.Addr // of its first request
	agent  string     // of its first request
	signed bool       // somebody was logged in
}

type request struct {
	at      int64 // µs since 1970
	cost    int64
	address uint32 // number of method and path
	status  uint16
}

// Collect keeps the requests that a rule is for, of entries in the order of time. Only
// Name, Match, Skip, Key, Missing and Cost of the rule count.
func Collect(r rule.Rule, entries iter.Seq[*accesslog.Entry]) (*Traffic, error) {
	if r.Name == "" {
		r.Name = ruleName
	}
	r.Limits, r.Mode = []rule.Limit{{Limit: sluice.PerSecond(1)}}, rule.Enforce
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{r}})
	if err != nil {
		return nil, err
	}
	if len(r.Key) == 0 {
		return nil, errors.New("recommend: a rule without a key has one budget for all: there is nobody to compare with; name a key such as ip")
	}
	t := &Traffic{rule: r}
	c := collector{traffic: t, set: set, numbers: map[string]int32{}}
	for e := range entries {
		c.add(e)
	}
	c.finish()
	return t, nil
}

// collector numbers keys as they come.
type collector struct {
	traffic   *Traffic
	set       *rule.Set
	translate replay.Translator
	matches   rule.Matches
	numbers   map[string]int32
	order     []int32 // the key of each request
	all       []request
	counts    []int
}

func (c *collector) add(e *accesslog.Entry) {
	c.set.Match(c.translate.Request(e), &c.matches)
	if len(c.matches.Hits) == 0 || c.matches.Hits[0].Denied {
		c.traffic.unmatched++
		return
	}
	hit := &c.matches.Hits[0]
	number, ok := c.numbers[hit.KeyText()]
	if !ok {
		number = int32(len(c.counts))
		key := strings.Clone(hit.KeyText())
		c.numbers[key] = number
		c.counts = append(c.counts, 0)
		c.traffic.keys = append(c.traffic.keys, keyFacts{name: strings.TrimPrefix(key, c.traffic.rule.Name+"|"), ip: e.IP, agent: strings.Clone(e.Agent)})
	}
	if e.User != "" {
		c.traffic.keys[number].signed = true
	}
	c.counts[number]++
	c.order = append(c.order, number)
	status := uint16(min(max(e.Status, 0), math.MaxUint16))
	c.all = append(c.all, request{at: e.Time, cost: hit.Cost, address: c.traffic.addresses.number(e), status: status})
}

// finish puts the requests of each key together.
func (c *collector) finish() {
	t := c.traffic
	t.first = make([]int, len(c.counts)+1)
	for i, n := range c.counts {
		t.first[i+1] = t.first[i] + n
	}
	next := slices.Clone(t.first)
	t.requests = make([]request, len(c.all))
	for i, key := range c.order {
		t.requests[next[key]] = c.all[i]
		next[key]++
	}
}

// span returns the time of the first and the last request.
func (t *Traffic) span() (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for i := range t.keys {
		from = min(from, t.requests[t.first[i]].at)
		to = max(to, t.requests[t.first[i+1]-1].at)
	}
	return from, to
}

// addresses numbers methods and paths. Many share a number when there are very many: it
// is about those that are asked for again and again.
type addresses struct {
	seed  maphash.Seed
	known map[uint32]string
}

const maxAddresses = 1 << 16

func (a *addresses) number(e *accesslog.Entry) uint32 {
	if a.known == nil {
		a.seed, a.known = maphash.MakeSeed(), map[uint32]string{}
	}
	var h maphash.Hash
	h.SetSeed(a.seed)
	_, _ = h.WriteString(e.Method)
	_ = h.WriteByte(' ')
	_, _ = h.WriteString(e.Path)
	n := uint32(h.Sum64())
	if _, ok := a.known[n]; !ok && len(a.known) < maxAddresses {
		a.known[n] = e.Method + " " + e.Path[:min(len(e.Path), 100)]
	}
	return n
}

// text returns the method and path of a number.
func (a *addresses) text(n uint32) string {
	if text := a.known[n]; text != "" {
		return text
	}
	return "one address"
}
