package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync/atomic"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/probe"
)

// probePlan is what is to be probed, and how.
type probePlan struct {
	targets []probeTarget
	client  *http.Client
	o       probe.Options
	margin  float64
	peak    float64 // per second; 0 if nobody asks
}

// run probes every target, and all together if there are several. What is known is in the
// result, also if something ends it.
func (p *probePlan) run(ctx context.Context, progress io.Writer) (*probeResult, error) {
	defer p.client.CloseIdleConnections()
	r := &probeResult{Goal: goalText(p.o.Goal), Margin: p.margin, Peak: p.peak, goal: p.o.Goal}
	for _, t := range p.targets {
		one, err := p.probe(ctx, progress, t.address, t.call, p.o)
		r.Targets = append(r.Targets, one)
		if err != nil {
			r.conclude()
			return r, err
		}
	}
	var err error
	if len(p.targets) > 1 {
		o := p.o
		o.Start, o.Max = o.Start*float64(len(p.targets)), o.Max*float64(len(p.targets))
		var together probeFound
		together, err = p.probe(ctx, progress, "together: "+p.names(), p.inTurn(), o)
		r.Together = &together
	}
	r.conclude()
	return r, err
}

// inTurn calls the targets one after the other.
func (p *probePlan) inTurn() probe.Target {
	var n atomic.Uint64
	return func(ctx context.Context) error {
		return p.targets[n.Add(1)%uint64(len(p.targets))].call(ctx)
	}
}

func (p *probePlan) probe(ctx context.Context, progress io.Writer, name string, do probe.Target, o probe.Options) (probeFound, error) {
	if isTerminal(progress) {
		o.Progress = func(now probe.Progress) {
			if now.Step == nil {
				fmt.Fprintf(progress, "\r\x1b[K%s: repeat %d of %d, %.4g/s …", name, now.Repeat, o.Repeats, now.Rate)
			}
		}
		defer fmt.Fprint(progress, "\r\x1b[K")
	}
	report, err := probe.Run(ctx, do, o)
	if report == nil {
		return probeFound{Target: name}, err
	}
	return foundOf(name, report), err
}

// probeResult is what a probe found. It is printed as it is with --json.
type probeResult struct {
	Interrupted bool         `json:"interrupted,omitempty"`
	Goal        string       `json:"goal"`
	Targets     []probeFound `json:"targets"`
	Together    *probeFound  `json:"together,omitempty"`
	Margin      float64      `json:"margin"`
	Limit       string       `json:"limit,omitempty"`        // in front of all targets
	PerInstance string       `json:"per_instance,omitempty"` // in each of several
	Rule        string       `json:"rule,omitempty"`         // as a rule file
	Peak        float64      `json:"peak,omitempty"`
	Replicas    int          `json:"replicas,omitempty"` // that the peak needs

	goal probe.Goal
}

// conclude works out what to write down, as far as something is known.
func (r *probeResult) conclude() {
	all, least := 0.0, math.Inf(1)
	for i := range r.Targets {
		all += r.Targets[i].known()
		least = min(least, r.Targets[i].known())
	}
	if r.Together != nil && r.Together.known() > 0 {
		all = min(all, r.Together.known()) // less, if they share something
	}
	if !(least > 0) {
		return
	}
	limit := r.limitFor(all)
	r.Limit = limit.String()
	if len(r.Targets) > 1 {
		r.PerInstance = r.limitFor(least).String()
	}
	r.Rule = r.yaml()
	if r.Peak > 0 {
		r.Replicas = int(math.Ceil(r.Peak / (all / float64(len(r.Targets)) * r.Margin)))
	}
}

// limitFor is the limit for a capacity. Its burst is what the target works off within half
// of the time that the goal leaves.
func (r *probeResult) limitFor(capacity float64) sluice.Limit {
	burst := max(int64(capacity*r.goal.Latency.Seconds()/2), 1)
	if perSecond := int64(capacity * r.Margin); perSecond >= 10 {
		return sluice.PerSecond(perSecond).WithBurst(burst)
	}
	return sluice.PerMinute(max(int64(60*capacity*r.Margin), 1)).WithBurst(burst)
}

// yaml is the rule file.
func (r *probeResult) yaml() string {
	text := fmt.Sprintf("# Found by sluice probe: the capacity at %s, times %g.\n", r.Goal, r.Margin)
	for i := range r.Targets {
		text += fmt.Sprintf("# %s: %s\n", r.Targets[i].Target, r.Targets[i].amount())
	}
	if r.Together != nil {
		text += fmt.Sprintf("# %s: %s\n", r.Together.Target, r.Together.amount())
	}
	if r.PerInstance != "" {
		text += fmt.Sprintf("# In each instance, as its last line of defence: %s\n", r.PerInstance)
	}
	return text + fmt.Sprintf("rules:\n  - name: capacity\n    limits: [%q]\n", r.Limit)
}
