package app

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/api"
)

// passage is a sighting as it is played again.
type passage struct {
	at        int64 // µs since 1970
	key       uint64
	cost      int64
	elsewhere bool // refused by another rule
}

// history is what is known of a rule.
type history struct {
	passages []passage // in the order of time
	from, to int64
	cut      bool // there was more, for which there was no room
}

// history returns what the rule saw in the time that is remembered.
func (r *record) history(c *rule.Compiled) history {
	is := r.register(c)
	blocks, cut, to, done := r.snapshot()
	defer done()
	h := history{from: max(is.since, to-r.blocks.age), to: to}
	if cut > 0 && cut >= h.from {
		h.from, h.cut = cut+1, true
	}
	for _, b := range blocks {
		at := b.base.UnixMicro()
		for i := range b.seen[:b.n] {
			s := &b.seen[i]
			at += int64(s.after)
			if uint16(s.who) == is.id && at >= h.from {
				h.passages = append(h.passages, passage{at, s.who &^ 0xffff, int64(s.cost &^ refusedElsewhere), s.cost&refusedElsewhere != 0})
			}
		}
	}
	// Those of one key come from one shard, in their order, which a stable sort keeps.
	slices.SortStableFunc(h.passages, func(a, b passage) int { return cmp.Compare(a.at, b.at) })
	return h
}

// snapshot returns all blocks as they are at one instant. For that instant nobody writes:
// some tens of microseconds.
func (r *record) snapshot() (blocks []*block, cut, to int64, done func()) {
	for i := range r.shards {
		r.shards[i].mu.Lock()
	}
	blocks, cut, done = r.blocks.read()
	to = r.now().UnixMicro()
	for i := range r.shards {
		if open := r.shards[i].open; open != nil {
			as := *open
			blocks = append(blocks, &as)
		}
		r.shards[i].mu.Unlock()
	}
	return blocks, cut, to, done
}

// historyOf returns a rule, and what is known of it.
func (a *App) historyOf(name string) (c *rule.Compiled, h history, err error) {
	if a.record == nil {
		return nil, h, api.ErrNoRecord
	}
	rules := a.engine.Set().Rules()
	i := slices.IndexFunc(rules, func(c *rule.Compiled) bool { return c.Name == name })
	if i < 0 {
		return nil, h, api.ErrNoRule
	}
	return rules[i], a.record.history(rules[i]), nil
}

// Record returns the last requests that a rule decided, in the order of time. What another
// rule refused is not among them.
func (a *App) Record(name string) (iter.Seq[api.Recorded], error) {
	_, h, err := a.historyOf(name)
	if err != nil {
		return nil, err
	}
	return func(yield func(api.Recorded) bool) {
		for i := range h.passages {
			if p := &h.passages[i]; !p.elsewhere && !yield(api.Recorded{At: p.at, Key: p.key, Cost: p.cost}) {
				return
			}
		}
	}, nil
}

// Preview tells what would have happened to the requests that a rule saw of late if these
// had been its limits; none means those in force.
func (a *App) Preview(ctx context.Context, name string, limits []sluice.Limit) (api.Preview, error) {
	c, h, err := a.historyOf(name)
	if err != nil {
		return api.Preview{}, err
	}
	p := api.Preview{Rule: name, From: time.UnixMicro(h.from).UTC(), To: time.UnixMicro(h.to).UTC(), Cut: h.cut, Overrides: len(c.Overrides) > 0}
	if p.InForce, err = h.play(ctx, c, c.Limits, nil); err != nil {
		return p, err
	}
	p.With = p.InForce
	if len(limits) > 0 {
		tried := make([]rule.Limit, len(limits))
		for i, l := range limits {
			tried[i] = rule.Limit{Name: "limit-" + strconv.Itoa(i+1), Limit: l}
		}
		if p.With, err = h.play(ctx, c, tried, nil); err != nil {
			return p, err
		}
	}
	p.Requests, p.Keys, p.Elsewhere = h.count()
	return p, nil
}

// count returns how many requests and keys there are, and how many requests others refused.
func (h *history) count() (requests, keys, elsewhere int64) {
	seen := map[uint64]bool{}
	for i := range h.passages {
		if h.passages[i].elsewhere {
			elsewhere++
			continue
		}
		requests++
		seen[h.passages[i].key] = true
	}
	return requests, int64(len(seen)), elsewhere
}

// playedKey is the attribute by which passages are told apart.
const playedKey = "key"

// play decides all passages by other limits of the rule, with fresh budgets, as a replay
// of a log does. What another rule refused is passed over, for it would be again. decided
// may be nil.
func (h *history) play(ctx context.Context, c *rule.Compiled, limits []rule.Limit, decided func(i int, allowed bool)) (o api.PreviewOutcome, err error) {
	limits, o.Limits = slices.Clone(limits), make([]string, len(limits))
	for i := range limits {
		o.Limits[i] = limits[i].Limit.String()
		limits[i].Scope = rule.Cluster // there is one instance here
	}
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{
		Name: c.Name, Key: []string{"attribute:" + playedKey}, Limits: limits, Wait: c.Wait,
	}}}, rule.At(time.UnixMicro(h.from)))
	if err != nil {
		return o, err
	}
	player, err := replay.NewPlayer(set, h.from)
	if err != nil {
		return o, err
	}
	defer player.Close()
	denied := map[uint64]bool{}
	request := rule.Request{Attributes: map[string]string{}}
	for i := range h.passages {
		p := &h.passages[i]
		if i%4096 == 0 && ctx.Err() != nil {
			return o, ctx.Err()
		}
		if p.elsewhere {
			continue
		}
		request.Attributes[playedKey], request.Cost = strconv.FormatUint(p.key, 36), p.cost
		d, err := player.Decide(p.at, &request)
		if err != nil {
			return o, err
		}
		if decided != nil {
			decided(i, d.Allowed)
		}
		if !d.Allowed {
			o.Denied++
			denied[p.key] = true
		}
	}
	o.KeysDenied = int64(len(denied))
	return o, nil
}
