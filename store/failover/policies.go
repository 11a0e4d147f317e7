package failover

import "github.com/sluice-limiter/sluice/store"

// policies says which policy is that of which check of a call.
type policies struct {
	all  Policy
	each []Policy // by the index of the check; nil: all have the same
}

func (p policies) of(check int) Policy {
	if p.each == nil {
		return p.all
	}
	return p.each[check]
}

// at returns the policies of the checks that stand there; nil stands for all.
func (p policies) at(places []int) policies {
	if p.each == nil || places == nil {
		return p
	}
	some := make([]Policy, len(places))
	for i, place := range places {
		some[i] = p.each[place]
	}
	return policies{each: some}
}

// String returns the policy's name, if there is one for all.
func (p policies) String() string {
	for i := range p.each {
		if p.each[i] != p.each[0] {
			return "several"
		}
	}
	return p.of(0).String()
}

// pick returns the checks that are wanted and where they stand. If all are, it
// returns just them, and no places.
func pick(checks []store.Check, wanted func(i int) bool) (some []store.Check, places []int) {
	n := 0
	for i := range checks {
		if wanted(i) {
			n++
		}
	}
	if n == len(checks) {
		return checks, nil
	}
	some, places = make([]store.Check, 0, n), make([]int, 0, n)
	for i := range checks {
		if wanted(i) {
			some, places = append(some, checks[i]), append(places, i)
		}
	}
	return some, places
}

// put brings back what pick returned.
func put(checks, some []store.Check, places []int) {
	for i, place := range places {
		checks[place] = some[i]
	}
}
