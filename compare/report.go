package compare

import (
	"errors"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/replay"
)

// Report is what limits did to a traffic. It reads and writes JSON.
type Report struct {
	Traffic  string         `json:"traffic"`
	About    string         `json:"about"`
	Requests int64          `json:"requests"`
	Cut      bool           `json:"cut,omitempty"` // the log has more
	Keys     int64          `json:"keys"`
	Length   replay.Seconds `json:"length"`
	Step     replay.Seconds `json:"step"`    // of the courses
	Offered  []int64        `json:"offered"` // requests per step
	Results  []Result       `json:"results"`
}

// Result is what one limit did.
type Result struct {
	Algorithm string       `json:"algorithm"`
	Limit     sluice.Limit `json:"limit"`

	Admitted int64 `json:"admitted"`
	Denied   int64 `json:"denied"`
	Waited   int64 `json:"waited"` // admitted after a wait

	Performance string  `json:"performance"`               // what a decision takes
	Nanoseconds float64 `json:"ns_per_decision,omitempty"` // measured on this machine; see Measure

	// WorstPeriod is the most that one key got through within any period of the limit,
	// wherever it begins; Exceeded by how much that is more than the limit says. Promise is
	// the most that the algorithm lets happen.
	WorstPeriod int64  `json:"worst_period"`
	Exceeded    int64  `json:"exceeded"`
	Promise     string `json:"promise"`

	// Unevenness is the standard deviation of the admitted per bin (a tenth of the period,
	// or more in a long log), divided by their mean: 0 is perfectly smooth.
	Unevenness float64        `json:"unevenness"`
	Bin        replay.Seconds `json:"unevenness_bin"`
	Longest    replay.Seconds `json:"longest_refusal"` // a key got nothing but denials for so long

	Burst  int64 `json:"burst"`         // the most that one key got through within a tenth of the period
	Memory int64 `json:"bytes_per_key"` // in this process, about

	// FalselyDenied are requests that an exact log with the same history would have
	// admitted: of those that came in the period before them fewer than the limit had been.
	FalselyDenied int64 `json:"falsely_denied"`

	Yes    []int64 `json:"admitted_course"` // per step, by when they go ahead
	No     []int64 `json:"denied_course"`
	Within []int64 `json:"period_course"` // the most that one key got through within a period that ends in the step
}

// columns is how many steps a course has.
const columns = 120

// Run plays a traffic through limits. Those that let requests wait are asked so.
func Run(t *Traffic, limits []sluice.Limit) (*Report, error) {
	if t == nil || len(t.requests) == 0 || len(limits) == 0 {
		return nil, errors.New("compare: nothing to compare: give a traffic that has requests, and limits")
	}
	if err := check(limits); err != nil {
		return nil, err
	}
	step := max((t.length+columns-1)/columns, 1)
	r := &Report{
		Traffic: t.Name, About: t.About, Requests: int64(len(t.requests)), Cut: t.Cut, Keys: int64(len(t.keys)),
		Length: seconds(t.length), Step: seconds(step), Offered: make([]int64, (t.length+step-1)/step),
	}
	for _, q := range t.requests {
		r.Offered[q.at/step]++
	}
	for _, l := range limits {
		result, err := try(t, l, step)
		if err != nil {
			return nil, err
		}
		r.Results = append(r.Results, result)
	}
	return r, nil
}

// try plays a traffic through one limit and works out its figures.
func try(t *Traffic, l sluice.Limit, step int64) (Result, error) {
	out, err := play(t, l)
	if err != nil {
		return Result{}, err
	}
	known, period := traits(l), l.Period.Microseconds()
	bin := max(period/10, (t.length+maxBins-1)/maxBins)
	byKey := passed(t, out)
	r := Result{
		Algorithm: nameOf(l), Limit: l, Performance: known.performance, Promise: known.promise,
		WorstPeriod: worst(byKey, period), Burst: worst(byKey, period/10),
		Unevenness: round(unevenness(byKey, t.length, bin)), Bin: seconds(bin), Longest: seconds(longestRefusal(t, out)),
	}
	r.Exceeded = max(r.WorstPeriod-l.Count, 0)
	r.Memory = bytesPerKey(l, r.WorstPeriod)
	r.FalselyDenied = falselyDenied(t, out, l.Count, period)
	r.Within = trailing(byKey, t.length, step, period)
	r.course(t, out, step)
	return r, nil
}

// course counts what went ahead and what was denied over the time.
func (r *Result) course(t *Traffic, out []outcome, step int64) {
	n := (t.length + step - 1) / step
	r.Yes, r.No = make([]int64, n), make([]int64, n)
	for i, o := range out {
		if !o.allowed {
			r.Denied++
			r.No[o.at/step]++
			continue
		}
		r.Admitted++
		if o.at > t.requests[i].at {
			r.Waited++
		}
		if o.at < t.length { // else it goes ahead beyond the right edge
			r.Yes[o.at/step]++
		}
	}
}

func seconds(micro int64) replay.Seconds {
	return replay.Seconds(time.Duration(micro) * time.Microsecond)
}
