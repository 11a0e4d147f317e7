package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/rule"
)

// report makes the report of what was counted.
func (r *runner) report() *Report {
	r.weigh()
	out := &Report{
		Requests: r.requests, Denied: r.denied, Shadow: r.shadow, Waited: r.waited, NoRule: r.noRule, Errors: r.errors,
		Spread: Sensitivity{Model: r.opts.Spread, Coarse: r.coarse},
		Memory: r.memory,
	}
	if r.failure != nil {
		out.Error = r.failure.Error()
	}
	if r.requests > 0 {
		out.From, out.To = instant(r.first), instant(r.player.now)
	}
	if r.coarse > 0 && r.opts.Sample > 0 {
		out.Spread.Over = min(r.requests, r.opts.Sample)
		out.Spread.Denied = map[Spread]int64{}
		for _, t := range r.others {
			out.Spread.Denied[t.spread.model] = t.denied
		}
	}
	for i := range peakWindows {
		out.Peaks = append(out.Peaks, Peak{Seconds(windowLength(i)), r.peaks.peaks[i], instant(r.start + int64(r.peaks.at[i])*1e6)})
	}
	for _, a := range r.accounts {
		out.Rules = append(out.Rules, a.summary(r))
	}
	if r.rival != nil {
		out.Comparison = r.rival.comparison(r.opts.Top)
	}
	return out
}

// summary tells what a rule did.
func (a *account) summary(r *runner) Rule {
	a.worst.close()
	out := Rule{
		Name: a.rule.Name, Limits: limitTexts(a.rule.Limits), Key: slices.Clone(a.rule.Key), Mode: string(cmp.Or(a.rule.Mode, rule.Enforce)),
		Requests: a.requests, Denied: a.denied, Candidate: a.candidate, Keys: int64(a.keys.size), KeysDenied: int64(a.refused),
		Worst: a.worst.list, KeyPeaks: a.keyPeaks(),
		Timeline: Timeline{From: instant(r.start), Step: Seconds(time.Duration(a.timeline.width()) * time.Second)},
	}
	if a.denied > 0 {
		out.First, out.Last = instant(a.first), instant(a.last)
	}
	for _, s := range a.timeline.steps {
		out.Timeline.Requests = append(out.Timeline.Requests, s.requests)
		out.Timeline.Denied = append(out.Timeline.Denied, s.denied)
	}
	a.refusals(&out, r)
	return out
}

func limitTexts(limits []rule.Limit) []string {
	texts := make([]string, len(limits))
	for i, l := range limits {
		texts[i] = l.Limit.String()
	}
	return texts
}

// refusals tells whom the rule refused.
func (a *account) refusals(out *Rule, r *runner) {
	all, good := &ranking{most: r.opts.Top}, &ranking{most: r.opts.Top}
	var longest *keyRecord
	for i := range a.keys.size {
		k := a.keys.at(i)
		if k.denial == 0 {
			continue
		}
		d := a.denial(k)
		all.offer(k, d.denied)
		if !d.good {
			continue
		}
		good.offer(k, d.denied)
		out.Suspects.Keys++
		out.Suspects.Requests += int64(d.denied)
		if longest == nil || d.longest > a.denial(longest).longest {
			longest = k
		}
	}
	out.Denials, out.Suspects.Top = a.list(all, r), a.list(good, r)
	if longest != nil {
		d := a.denial(longest)
		out.Longest = &Refusal{Key: a.keys.text(longest), From: instant(d.longestFrom), For: micros(d.longest), Agent: r.agents.text(d.agent)}
	}
}

func micros(n int64) Seconds { return Seconds(time.Duration(n) * time.Microsecond) }

// list tells of the keys of a ranking.
func (a *account) list(top *ranking, r *runner) (keys []DeniedKey) {
	for _, k := range top.keys {
		d := a.denial(k)
		keys = append(keys, DeniedKey{
			Key: a.keys.text(k), Requests: int64(k.requests), Denied: int64(d.denied), Limit: a.limits[d.limit], Reason: d.reason.String(),
			First: instant(d.first), Last: instant(d.last), Longest: micros(d.longest), Agent: r.agents.text(d.agent), Good: d.good,
			Peak: int64(k.peaks[2]),
		})
	}
	return keys
}

// ranking keeps the keys with most refusals, most first.
type ranking struct {
	most   int
	keys   []*keyRecord
	counts []uint32
}

func (t *ranking) offer(k *keyRecord, count uint32) {
	if len(t.keys) == t.most && count <= t.counts[t.most-1] {
		return
	}
	at, _ := slices.BinarySearchFunc(t.counts, count, func(have, want uint32) int {
		if have >= want { // who came first stands first
			return -1
		}
		return 1
	})
	t.keys, t.counts = slices.Insert(t.keys, at, k), slices.Insert(t.counts, at, count)
	if len(t.keys) > t.most {
		t.keys, t.counts = t.keys[:t.most], t.counts[:t.most]
	}
}

// keyPeaks tells how busy keys get.
func (a *account) keyPeaks() []KeyPeaks {
	all := make([]uint32, a.keys.size)
	out := make([]KeyPeaks, len(peakWindows))
	for w := range peakWindows {
		out[w].Over = Seconds(windowLength(w))
		if len(all) == 0 {
			continue
		}
		for i := range all {
			all[i] = a.keys.at(i).peaks[w]
		}
		slices.Sort(all)
		at := func(share int) int64 { // in ten-thousandths: the least that so many keys do not exceed
			return int64(all[(len(all)*share+9999)/10_000-1])
		}
		p := &out[w]
		p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999 = at(5000), at(9000), at(9500), at(9900), at(9990), at(9999)
		p.Max = int64(all[len(all)-1])
	}
	return out
}
