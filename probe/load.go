package probe

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// loader makes calls.
type loader struct {
	do     Target
	o      *Options
	random *rand.Rand
	calls  int64 // made so far

	mu sync.Mutex // guards the record of the step
}

// step makes the calls of one rate and returns when all have returned. The context ends
// it early, and then its figures mean little.
func (l *loader) step(ctx context.Context, rate float64) Step {
	due := schedule(rate, l.o.holdFor(rate), l.random)
	r := newRecord(rate, len(due), &l.o.Goal)
	slots := make(chan struct{}, l.o.MaxInFlight)
	broken := make(chan struct{}) // closed when there is no use in going on
	tell := sync.OnceFunc(func() { close(broken) })
	note := func(change func(*record)) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if change(r); r.broken() {
			tell()
		}
	}
	var calls sync.WaitGroup
	begin := l.o.Now()
	for _, after := range due {
		at := begin.Add(after)
		if !l.sleep(ctx, at, broken) {
			break
		}
		select {
		case slots <- struct{}{}:
		default:
			note(func(r *record) { r.Dropped++ })
			continue
		}
		l.calls++
		lag := l.o.Now().Sub(at)
		note(func(r *record) { r.Sent, r.lags = r.Sent+1, append(r.lags, lag) })
		calls.Go(func() {
			err := l.call(ctx)
			latency := l.o.Now().Sub(at)
			<-slots
			note(func(r *record) { r.done(latency, err) })
		})
	}
	calls.Wait()
	return r.finish()
}

// call makes one call, which has a time limit of its own.
func (l *loader) call(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	return l.do(ctx)
}

// sleep waits until an instant; false means that something ended before.
func (l *loader) sleep(ctx context.Context, until time.Time, ended <-chan struct{}) bool {
	wait := until.Sub(l.o.Now())
	if wait <= 0 {
		select {
		case <-ctx.Done():
			return false
		case <-ended:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-ended:
		return false
	}
}

// answers waits until the target answers three calls in a row, one at a time.
func (l *loader) answers(ctx context.Context) error {
	const inRow, pause = 3, 100 * time.Millisecond
	deadline := l.o.Now().Add(l.o.Recovery)
	for good := 0; good < inRow; {
		if l.calls >= l.o.MaxCalls {
			return l.o.usedUp()
		}
		l.calls++
		err := l.call(ctx)
		if good++; err != nil {
			good = 0
			if !l.o.Now().Before(deadline) {
				return err
			}
		}
		if !l.sleep(ctx, l.o.Now().Add(pause), nil) {
			return ctx.Err()
		}
	}
	return nil
}
