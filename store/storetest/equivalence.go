package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

// testEquivalence sends the same random stream into the store and the model: many
// keys, all operations, all algorithms, changing limits, the clock going on and
// back. All answers are equal.
func testEquivalence(t testing.TB, s *suite) {
	seed := algotest.Seed(t, s.seed)
	for _, kind := range algotest.Kinds() {
		left := s.steps
		for n := uint64(0); left > 0; n++ {
			p := s.pair(t, algotest.Rand(seed+uint64(kind), n), kind)
			p.TB = named{t, fmt.Sprintf("seed %d, %s, round %d", seed, algotest.KindName(kind), n)}
			for range min(left, 400) {
				if left--; !p.step() {
					break
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// pair is a store and the model with the same clock.
type pair struct {
	*world
	*algotest.Stream
	model  store.Store
	limits []*limit
	open   []ticket
	booked []booking
	leased []booking
	trace  map[string][]string // by key
	serial int
}

// limit is one that changes while the stream runs; its shape stays.
type limit struct {
	name string
	def  algo.Spec
	spec *algo.Spec
}

// ticket is a reservation that may be open.
type ticket struct {
	check store.Check
	until int64
}

// booking is a spend that was told to wait, or a lease, with the mark that the
// model gave it.
type booking struct {
	check store.Check
	model algo.Mark
}

func (s *suite) pair(t testing.TB, r *rand.Rand, kind algo.Kind) *pair {
	p := &pair{world: s.world(t), trace: map[string][]string{}}
	p.model = algotest.NewModel(p.now)
	kinds := []algo.Kind{kind, kind, algotest.Pick(r, algotest.Kinds())}
	for i, k := range kinds {
		def := algotest.RandomSpec(r, k)
		def.Ordinal = int64(i)
		p.limits = append(p.limits, &limit{fmt.Sprint("limit ", i), def, compile(t, def)})
	}
	p.Stream = algotest.NewStream(r, p.limits[0].def)
	p.Now = p.clock.Load()
	return p
}

// step does one random thing to both; false ends the stream.
func (p *pair) step() bool {
	r := p.Rand
	if p.Step() > start+longest {
		return false
	}
	p.clock.Store(p.Now)
	switch k := r.IntN(100); {
	case k < 60:
		p.spend()
	case k < 62:
		p.cancel()
	case k < 65:
		p.lease()
	case k < 67:
		p.giveBack()
	case k < 74:
		p.reserve()
	case k < 82:
		p.settle()
	case k < 90:
		p.both(store.Refund, p.checks(1))
	case k < 92:
		p.both(store.Reset, p.checks(1))
	case k < 96:
		l := algotest.Pick(r, p.limits)
		l.def = algotest.RandomChange(r, l.def)
		l.spec = compile(p, l.def)
	default:
		p.back()
	}
	return !p.Failed()
}

// spend makes a call of one check or a few.
func (p *pair) spend() {
	checks := p.checks(1 + max(0, p.Rand.IntN(6)-3))
	shade(p.Rand, checks)
	want := p.both(store.Spend, checks)
	if c := checks[0]; len(checks) == 1 && c.Verdict.Allowed && c.Verdict.Wait > 0 {
		p.booked = append(p.booked, booking{c, want[0].Mark})
	}
}

// cancel gives a booking back, mostly the newest. A key that is as good as new may
// have been forgotten with all its bookings, so it is not asked.
func (p *pair) cancel() {
	n := len(p.booked)
	if n == 0 {
		return
	}
	i := n - 1 - p.Rand.IntN(min(n, 1+p.Rand.IntN(3)))
	b := p.booked[i]
	p.booked = append(p.booked[:i], p.booked[i+1:]...)
	peek := store.Check{Key: b.check.Key, Spec: b.check.Spec}
	if v := p.both(store.Spend, []store.Check{peek})[0].Verdict; peek.Spec.ResetAfter(v) > 0 {
		p.both(store.Cancel, []store.Check{b.check}, b.model)
	}
}

// lease takes ahead.
func (p *pair) lease() {
	checks := p.checks(1 + p.Rand.IntN(2))
	for i := range checks {
		c := &checks[i]
		c.MaxWait, c.Cost = 0, max(1, c.Cost)
		c.Want = min(algo.MaxCount, c.Cost*algotest.LogUniform(p.Rand, 1000))
	}
	want := p.both(store.Lease, checks)
	for i, c := range checks {
		if c.Granted > 0 {
			p.leased = append(p.leased, booking{c, want[i].Mark})
		}
	}
}

// giveBack returns some of a lease, mostly of one of the newest.
func (p *pair) giveBack() {
	n := len(p.leased)
	if n == 0 {
		return
	}
	i := n - 1 - p.Rand.IntN(min(n, 1+p.Rand.IntN(4)))
	b := p.leased[i]
	p.leased = append(p.leased[:i], p.leased[i+1:]...)
	b.check.Cost = p.Rand.Int64N(b.check.Granted + 1)
	p.both(store.Return, []store.Check{b.check}, b.model)
}

// checks draws the checks of one call.
func (p *pair) checks(n int) []store.Check {
	var checks []store.Check
	for range n {
		l := algotest.Pick(p.Rand, p.limits)
		cost := min(p.Cost(), algo.MaxCount)
		if p.Rand.IntN(3) == 0 {
			cost = p.Rand.Int64N(4)
		}
		checks = append(checks, store.Check{
			Key: fmt.Sprint("key ", p.Rand.IntN(4)), Spec: l.spec, Cost: cost, MaxWait: p.Patience(),
		})
	}
	return checks
}

// reserve opens a reservation, or repeats one.
func (p *pair) reserve() {
	if n := len(p.open); n > 0 && p.Rand.IntN(6) == 0 {
		o := &p.open[p.Rand.IntN(n)]
		p.both(store.Reserve, []store.Check{o.check})
		o.until = min(o.until, p.Now+o.check.Hold) // if it was settled, this opened it anew
		return
	}
	checks := p.checks(1 + max(0, p.Rand.IntN(6)-3))
	shade(p.Rand, checks)
	for i := range checks {
		p.serial++
		checks[i].ID = fmt.Sprint("id ", p.serial)
		checks[i].Hold = algotest.LogUniform(p.Rand, store.MaxHold)
	}
	p.both(store.Reserve, checks)
	for _, c := range checks {
		p.open = append(p.open, ticket{c, p.Now + c.Hold})
	}
}

// settle commits a reservation or a few, which may have expired or be settled already.
func (p *pair) settle() {
	if len(p.open) == 0 {
		return
	}
	var checks []store.Check
	for range 1 + max(0, p.Rand.IntN(4)-1) {
		c := p.open[len(p.open)-1-p.Rand.IntN(min(len(p.open), 1+p.Rand.IntN(30)))].check
		c.Cost = algotest.Pick(p.Rand, []int64{0, c.Cost, c.Cost / 2, min(c.Cost+1, algo.MaxCount)})
		checks = append(checks, c)
	}
	p.both(store.Commit, checks)
}

// back takes the clock back. What is as good as new now may have been forgotten,
// which a step back would show, so it is reset; likewise expired reservations.
func (p *pair) back() {
	for _, l := range p.limits {
		for k := range 4 {
			c := store.Check{Key: fmt.Sprint("key ", k), Spec: l.spec}
			if v := p.both(store.Spend, []store.Check{c})[0].Verdict; l.spec.ResetAfter(v) == 0 {
				p.both(store.Reset, []store.Check{c})
			}
		}
	}
	open := p.open[:0]
	for _, o := range p.open {
		if o.until > p.Now {
			open = append(open, o)
		}
	}
	p.open = open
	p.Now -= algotest.LogUniform(p.Rand, 30*24*3600*1_000_000)
	p.clock.Store(p.Now)
}

// both carries out a call on the store and on the model, and compares. It returns
// the model's answers. marks are those of the model: a mark means something only to
// the store that gave it.
func (p *pair) both(op store.Op, checks []store.Check, marks ...algo.Mark) []store.Check {
	p.Helper()
	want := append([]store.Check(nil), checks...)
	for i, mark := range marks {
		want[i].Mark = mark
	}
	if err := p.model.Take(context.Background(), op, want); err != nil {
		p.Fatalf("model: %v", err)
	}
	err := p.store.Take(context.Background(), op, checks)
	for i := range checks {
		p.note(op, i, len(checks), &checks[i], &want[i])
	}
	if err != nil {
		p.bad(checks[0].Key, "take: %v", err)
	}
	for i := range checks {
		if a, b := answer(op, &checks[i]), answer(op, &want[i]); a != b {
			p.bad(checks[i].Key, "check %d of %d: got %s, want %s", i+1, len(checks), a, b)
		}
	}
	return want
}

// answer is what is compared.
func answer(op store.Op, c *store.Check) string {
	v, p := c.Verdict, c.Spec
	switch op {
	case store.Refund, store.Reset, store.Return:
		return ""
	case store.Commit, store.Cancel:
		return fmt.Sprint("settled ", v.Allowed)
	}
	return fmt.Sprintf("allowed %v granted %d never %v wait %d remaining %d retry %d reset %d window %d",
		v.Allowed, c.Granted, v.Never, v.Wait, p.Remaining(v), p.RetryAfter(v), p.ResetAfter(v), v.Window)
}

func (p *pair) note(op store.Op, i, n int, got, want *store.Check) {
	name := [...]string{"spend", "reserve", "commit", "refund", "reset", "cancel", "lease", "return"}[op]
	line := fmt.Sprintf("at +%dµs: %s %d (%d of %d, shadow %v, max wait %d, id %q, hold %d) of %s: %s; model: %s", p.Now-start, name,
		got.Cost, i+1, n, got.Shadow, got.MaxWait, got.ID, got.Hold, p.limitOf(got), answer(op, got), answer(op, want))
	p.trace[got.Key] = append(p.trace[got.Key], line)
}

func (p *pair) limitOf(c *store.Check) string { return algotest.Describe(*c.Spec) }

// bad reports a difference with the last steps of its key.
func (p *pair) bad(key, format string, args ...any) {
	p.Helper()
	lines := p.trace[key]
	p.Fatalf("%s: %s\n%s", key, fmt.Sprintf(format, args...), strings.Join(lines[max(0, len(lines)-20):], "\n"))
}
