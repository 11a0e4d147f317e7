package probe_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sluice-limiter/sluice/probe"
)

// A backend is a target whose capacity is known.
type backend struct {
	name     string
	capacity float64 // per second
	make     func(seed uint64) probe.Target
}

var backends = []backend{
	{"worker pool", 200, func(uint64) probe.Target { return workerPool(2, 10*time.Millisecond) }},
	{"CPU-bound", 1000.0 / 3, func(seed uint64) probe.Target { return cpuBound(2, 6, time.Millisecond, seed) }},
	{"queue with timeouts", 200, func(uint64) probe.Target { return queue(2, 10*time.Millisecond, 60, 100*time.Millisecond) }},
}

// workerPool lets so many work at the same time, each for so long. All others wait.
func workerPool(workers int, each time.Duration) probe.Target {
	free := make(chan struct{}, workers)
	return func(ctx context.Context) error {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		time.Sleep(each)
		<-free
		return nil
	}
}

// cpuBound needs slices of processors that all calls share in turn: a call takes about
// slices of them, some more and some less.
func cpuBound(processors, slices int, slice time.Duration, seed uint64) probe.Target {
	free := make(chan struct{}, processors)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 1))
	return func(ctx context.Context) error {
		mu.Lock()
		n := slices/2 + random.IntN(slices+1)
		mu.Unlock()
		for range n {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			time.Sleep(slice)
			<-free
		}
		return nil
	}
}

var errBusy = errors.New("busy")

// queue is a pool whose queue is bounded, and who waits for too long is sent away: its
// latency stays within any goal, and only errors tell.
func queue(workers int, each time.Duration, places int, patience time.Duration) probe.Target {
	free := make(chan struct{}, workers)
	waiting := make(chan struct{}, places)
	return func(context.Context) error {
		select {
		case waiting <- struct{}{}:
		default:
			return errBusy
		}
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case free <- struct{}{}:
			<-waiting
		case <-timer.C:
			<-waiting
			return errBusy
		}
		time.Sleep(each)
		<-free
		return nil
	}
}
