package rls

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// round is one measurement.
type round struct {
	rate   float64 // requests per second
	p50    time.Duration
	p99    time.Duration
	errors int64
	over   float64 // share of answers that refuse
}

// load are callers that each wait for their answer.
type load struct {
	key         string
	values      int // different ones
	callers     int
	connections int
}

// worker is one caller.
type worker struct {
	took         []time.Duration
	errors, over int64
	err          error
}

// measure asks a server for so long.
func (l load) measure(address string, length time.Duration) (round, error) {
	var clients []pb.RateLimitServiceClient
	for range l.connections {
		c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return round{}, err
		}
		defer c.Close()
		clients = append(clients, pb.NewRateLimitServiceClient(c))
		if _, err := clients[len(clients)-1].ShouldRateLimit(context.Background(), l.request(0)); err != nil {
			return round{}, fmt.Errorf("the first request: %w", err)
		}
	}
	workers := make([]worker, l.callers)
	var all sync.WaitGroup
	start := time.Now()
	for i := range workers {
		all.Go(func() { workers[i].run(clients[i%len(clients)], l, i, start.Add(length)) })
	}
	all.Wait()
	return sum(workers, time.Since(start))
}

func (w *worker) run(client pb.RateLimitServiceClient, l load, number int, until time.Time) {
	for n := number; ; n += l.callers {
		r := l.request(n * 7919 % l.values)
		began := time.Now()
		if began.After(until) {
			return
		}
		answer, err := client.ShouldRateLimit(context.Background(), r)
		w.took = append(w.took, time.Since(began))
		if err != nil {
			w.errors, w.err = w.errors+1, err
		} else if answer.GetOverallCode() == pb.RateLimitResponse_OVER_LIMIT {
			w.over++
		}
	}
}

func (l load) request(n int) *pb.RateLimitRequest {
	return &pb.RateLimitRequest{Domain: "bench", Descriptors: []*ratelimitv3.RateLimitDescriptor{{
		Entries: []*ratelimitv3.RateLimitDescriptor_Entry{{Key: l.key, Value: strconv.Itoa(n)}},
	}}}
}

// sum puts the workers together.
func sum(workers []worker, length time.Duration) (round, error) {
	var took []time.Duration
	var r round
	over, failed := int64(0), error(nil)
	for i := range workers {
		took = append(took, workers[i].took...)
		r.errors += workers[i].errors
		over += workers[i].over
		if workers[i].err != nil {
			failed = workers[i].err
		}
	}
	if len(took) == 0 || r.errors > int64(len(took)/2) {
		return r, fmt.Errorf("nearly nothing was answered: %w", failed)
	}
	slices.Sort(took)
	r.rate = float64(len(took)) / length.Seconds()
	r.p50, r.p99 = took[len(took)/2], took[len(took)*99/100]
	r.over = float64(over) / float64(len(took))
	return r, nil
}
