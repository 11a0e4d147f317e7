package recommend

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/algo"
)

// loss is what a limit refuses of one key on one day.
type loss struct {
	span   int // its number in the part
	day    int
	denied int64 // requests
}

// judged is what a limit does to some keys of a part.
type judged struct {
	losses  []loss
	touched []int // numbers of the spans that lost something, in order
	denied  int64
}

// judge decides the requests of some spans by a limit. A key that a limit does not touch
// is not touched by a larger one either: who looks for a limit asks for those only that
// a smaller one touched.
func (p *part) judge(ctx context.Context, l sluice.Limit, among []int) (judged, error) {
	plans, err := sluice.NewPlans(time.UnixMicro(p.from), []sluice.Limit{l})
	if err != nil {
		return judged{}, err
	}
	spec := plans[0].Specs()[0]
	workers := min(runtime.GOMAXPROCS(0), max(len(among)/256, 1))
	parts := make([]judged, workers)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			parts[w] = p.judgeSome(ctx, spec, among[len(among)*w/workers:len(among)*(w+1)/workers])
		})
	}
	done.Wait()
	if err := ctx.Err(); err != nil {
		return judged{}, err
	}
	all := parts[0]
	for _, more := range parts[1:] {
		all.losses = append(all.losses, more.losses...)
		all.touched = append(all.touched, more.touched...)
		all.denied += more.denied
	}
	return all, nil
}

func (p *part) judgeSome(ctx context.Context, spec *algo.Spec, among []int) (j judged) {
	never := spec.Count // who asks for no more than this is never refused
	if spec.Kind == algo.TokenBucket {
		never = spec.Burst
	}
	if spec.Kind == algo.SlidingLog {
		never = spec.Windows[0].Count
	}
	var state algo.State
	for n, i := range among {
		if n%256 == 0 && ctx.Err() != nil {
			return j
		}
		s := &p.spans[i]
		if s.total <= never {
			continue
		}
		state = algo.State{More: state.More[:0]}
		before := len(j.losses)
		for r := range s.requests {
			if algo.Decide(spec, &state, s.requests[r].at, s.requests[r].cost, 0).Allowed {
				continue
			}
			d := p.dayOf(s.requests[r].at)
			if last := len(j.losses) - 1; last >= before && j.losses[last].day == d {
				j.losses[last].denied++
			} else {
				j.losses = append(j.losses, loss{i, d, 1})
			}
			j.denied++
		}
		if len(j.losses) > before {
			j.touched = append(j.touched, i)
		}
	}
	return j
}
