package rehearsal

import (
	"fmt"
	"net/http"
	"time"
)

// Report is what came of one part of a rehearsal.
type Report struct {
	Part     string
	Took     time.Duration // for how long there was load
	Capacity int           // orders per second that are possible

	Offered   int // requests
	Served    int // orders that clients were told of
	InTime    int // those of them that were served while there was load
	ByGateway int // refused there
	ByShop    int // refused by the application
	Errors    int // answers with a status of 500 or more, and requests without any answer
	Strange   int // other answers
	FirstBad  string

	Orders        int // that PostgreSQL has a record of
	DatabaseLimit int
	DatabasePeak  int // orders that it worked on at the same time, by its record
	DatabaseSeen  int // the same as pg_stat_activity showed it, every few milliseconds

	InstanceExcess int // admitted beyond the limit of an instance, in the worst interval
	AddressExcess  int // admitted beyond the limit of an address
}

// Goodput is how many orders per second were served under load.
func (r *Report) Goodput() float64 { return float64(r.InTime) / r.Took.Seconds() }

// overloaded reports whether there was so much load that all had to refuse some of it. On a
// machine that is busy with other things there may be less than was meant to be.
func (r *Report) overloaded() bool {
	return float64(r.Offered) > overloadFactor/2*capacity*r.Took.Seconds()
}

// Problems are promises that were broken. How much was served is not among them: that
// depends on the machine.
func (r *Report) Problems() (all []string) {
	complain := func(broken bool, format string, args ...any) {
		if broken {
			all = append(all, r.Part+": "+fmt.Sprintf(format, args...))
		}
	}
	complain(r.Errors > 0, "%d requests got a 5xx or no answer, the first: %s", r.Errors, r.FirstBad)
	complain(r.Strange > 0, "%d requests got neither 201 nor 429, the first: %s", r.Strange, r.FirstBad)
	complain(r.Served == 0, "nothing was served")
	complain(r.overloaded() && (r.ByGateway == 0 || r.ByShop == 0), "the gateway refused %d and the application %d: both should have had to", r.ByGateway, r.ByShop)
	complain(r.Served != r.Orders, "clients were told of %d orders, the database has %d", r.Served, r.Orders)
	complain(max(r.DatabasePeak, r.DatabaseSeen) > r.DatabaseLimit, "the database worked on %d statements at the same time (%d as seen from outside), its limit is %d", r.DatabasePeak, r.DatabaseSeen, r.DatabaseLimit)
	complain(r.InstanceExcess > 0, "an instance admitted %d more than its limit", r.InstanceExcess)
	complain(r.AddressExcess > 0, "the gateway admitted %d more than its limit from one address", r.AddressExcess)
	return all
}

// count adds up answers.
func (r *Report) count(answers []answer) {
	for i := range answers {
		a := &answers[i]
		r.Offered++
		switch {
		case a.err != nil || a.status >= 500:
			r.Errors++
			r.bad(a)
		case a.status == http.StatusCreated:
			r.Served++
			if a.end <= r.Took {
				r.InTime++
			}
		case a.refused() && a.instance == "":
			r.ByGateway++
		case a.refused():
			r.ByShop++
		default:
			r.Strange++
			r.bad(a)
		}
	}
}

func (r *Report) bad(a *answer) {
	if r.FirstBad != "" {
		return
	}
	if r.FirstBad = fmt.Sprintf("status %d of %q", a.status, a.instance); a.err != nil {
		r.FirstBad = a.err.Error()
	}
}

// judge compares what was admitted with what limits promise, which is so many bursts of an
// address.
func (r *Report) judge(answers []answer, bursts int) {
	r.InstanceExcess = worst(admittedBy(answers, func(a *answer) (string, bool) {
		return a.instance, a.status == http.StatusCreated
	}), perInstance, instanceBurst)
	r.AddressExcess = worst(admittedBy(answers, func(a *answer) (string, bool) {
		return a.address, a.instance != "" // whatever the application said then
	}), perAddress, bursts*addressBurst)
}

func worst(budgets map[string][]span, perSecond, burst int) int {
	most := -burst
	for _, admitted := range budgets {
		most = max(most, excess(admitted, perSecond, burst))
	}
	return most
}
