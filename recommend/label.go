package recommend

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/sluice-limiter/sluice/replay"
)

// From when on a key's behaviour says something of it.
const (
	enoughRequests = 20  // below it nobody is judged
	errorShare     = 0.5 // of answers that say that the client is wrong: a scanner
	sameShare      = 0.8 // of requests for one address: hammering
	leastFar       = 15  // requests in a period that are never far out
	beyond         = 2   // times far is what the others do not let one expect
)

// Labels name keys about whom somebody knows better than any heuristic.
type Labels struct {
	Good []string // keys, addresses or networks that must not be refused, however they look
	Bad  []string // that may be refused
}

// named is a list of keys and networks.
type named struct {
	keys     map[string]bool
	networks []netip.Prefix
}

func newNamed(list []string) named {
	n := named{keys: map[string]bool{}}
	for _, text := range list {
		n.keys[text] = true
		if p, err := netip.ParsePrefix(text); err == nil {
			n.networks = append(n.networks, p.Masked())
		} else if ip, err := netip.ParseAddr(text); err == nil {
			n.networks = append(n.networks, netip.PrefixFrom(ip, ip.BitLen()))
		}
	}
	return n
}

func (n *named) has(k *keyFacts) bool {
	return n.keys[k.name] || slices.ContainsFunc(n.networks, func(p netip.Prefix) bool { return p.Contains(k.ip.Unmap()) })
}

// labeller says which keys must not drive the limit up. Whether a key is far out is
// judged by the traffic that it was fitted to.
type labeller struct {
	good, bad named
	tails     [len(scales)]tail
	groups    []group
	large     largeGroup // that is not left out
	// usual says that most ask for one address all the time: then it means nothing.
	usual bool
}

// fitLabels looks at a part, labels nobody, and returns who does.
func fitLabels(p *part, l Labels) *labeller {
	f := &labeller{good: newNamed(l.Good), bad: newNamed(l.Bad)}
	f.usual = hammeringIsUsual(p)
	var keys []peaks
	for i := range p.spans {
		s := &p.spans[i]
		if f.known(p, s) == "" && (f.usual || !hammers(s)) {
			keys = append(keys, s.peaks)
		}
	}
	f.groups, keys, f.large = findGroups(keys)
	f.tails = fitTails(keys)
	return f
}

// label says why each span is not counted.
func (f *labeller) label(p *part) {
	for i := range p.spans {
		s := &p.spans[i]
		s.why = f.known(p, s)
		if s.why == "" && !f.trusted(p, s) {
			s.why = f.farOut(p, s)
		}
	}
}

// trusted reports whether somebody vouches for a key.
func (f *labeller) trusted(p *part, s *span) bool {
	k := &p.traffic.keys[s.key]
	return k.signed || f.good.has(k)
}

// known judges a key by what is said of it, and by what it was answered.
func (f *labeller) known(p *part, s *span) string {
	k := &p.traffic.keys[s.key]
	switch {
	case f.good.has(k):
		return ""
	case f.bad.has(k):
		return "labelled bad"
	case k.signed || len(s.requests) < enoughRequests:
		return ""
	}
	wrong := 0
	for i := range s.requests {
		if status := s.requests[i].status; status >= 400 && status < 500 && status != 429 {
			wrong++
		}
	}
	if share := float64(wrong) / float64(len(s.requests)); share >= errorShare {
		return fmt.Sprintf("scanner: %.0f %% of its answers are 4xx", 100*share)
	}
	return ""
}

// farOut judges a key that is much busier than the others.
func (f *labeller) farOut(p *part, s *span) string {
	if len(s.requests) < enoughRequests {
		return ""
	}
	for i := range f.groups {
		if g := &f.groups[i]; g.has(s.peaks) {
			return fmt.Sprintf("one of %d alike: %d in a period, and hardly any others come near", g.size, s.peak())
		}
	}
	if s.peak() > f.tails[0].far {
		if why := f.oddity(p, s); why != "" {
			return why
		}
	}
	return f.goingOn(s)
}

// oddity tells what is odd about a key that is far out.
func (f *labeller) oddity(p *part, s *span) string {
	far := f.tails[0].far
	if !f.usual && hammers(s) {
		where, share := favourite(s)
		return fmt.Sprintf("hammering: %.0f %% of its requests are %s", 100*share, p.traffic.addresses.text(where))
	}
	if s.peak() > beyond*far {
		return fmt.Sprintf("far out: %d in a period, where hardly anybody has above %d", s.peak(), far)
	}
	if agent := p.traffic.keys[s.key].agent; agent != "" && !replay.LooksGood(agent) {
		return fmt.Sprintf("a robot, as it says: %d in a period, where hardly anybody has above %d", s.peak(), far)
	}
	return ""
}

// goingOn judges a key that is busy for longer than the others. One that is not far out in
// a period has to be so much the further in many: it hardly drives a limit up, and may be
// the busiest of the next days.
func (f *labeller) goingOn(s *span) string {
	times := int64(beyond)
	switch {
	case s.peak() <= f.tails[0].busy:
		return ""
	case s.peak() <= f.tails[0].far:
		times *= beyond
	}
	for i := 1; i < len(scales); i++ {
		if s.peaks[i] > times*f.tails[i].far {
			return fmt.Sprintf("going on: %d in %d periods, where hardly anybody has above %d", s.peaks[i], scales[i], f.tails[i].far)
		}
	}
	return ""
}

// hammers reports whether a key asks for one address again and again.
func hammers(s *span) bool {
	if len(s.requests) < enoughRequests {
		return false
	}
	_, share := favourite(s)
	return share >= sameShare
}

// favourite returns for which address a key asks most, and how large a share that is.
func favourite(s *span) (address uint32, share float64) {
	counts, most := map[uint32]int{}, 0
	for i := range s.requests {
		a := s.requests[i].address
		if counts[a]++; counts[a] > most {
			address, most = a, counts[a]
		}
	}
	return address, float64(most) / float64(len(s.requests))
}

// hammeringIsUsual reports whether more than half of the keys do it, as where a rule is
// for one address.
func hammeringIsUsual(p *part) bool {
	judged, hammering := 0, 0
	for i := range p.spans {
		if len(p.spans[i].requests) < enoughRequests {
			continue
		}
		if judged++; hammers(&p.spans[i]) {
			hammering++
		}
	}
	return 2*hammering > judged
}
