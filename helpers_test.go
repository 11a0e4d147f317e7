package sluice_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
)

const (
	ms     = time.Millisecond
	second = time.Second
)

// start is when test clocks begin: aligned to a day, so that windows are too.
var start = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// clock is a time that passes only when a test says so.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

func (c *clock) option() sluice.Option { return sluice.WithClock(c.Now) }

// limiter returns a limiter of text on a clock of its own.
func limiter(text string) (*sluice.Limiter, *clock) {
	c := newClock()
	return sluice.NewLimiter(sluice.MustParse(text), c.option()), c
}

// keyed returns limits per key on a clock of their own.
func keyed(first string, more ...string) (*sluice.Keyed, *clock) {
	c := newClock()
	var limits []sluice.Limit
	for _, text := range more {
		limits = append(limits, sluice.MustParse(text))
	}
	return sluice.NewKeyed(sluice.MustParse(first), c.option(), sluice.WithLimits(limits...)), c
}

// algorithms are one limit of 10 per second for each.
var algorithms = []string{
	"token_bucket 10/s", "token_bucket 10/s refill=interval", "leaky_bucket 10/s",
	"warm_up 10/s warm_up=1s", "fixed_window 10/s", "fixed_window 10/s start=first_hit",
	"sliding_window 10/s", "sliding_window 10/s weighted", "sliding_log 10/s",
}

var seedFlag = flag.Uint64("seed", 0, "seed of random tests; 0 means a new one")

// random returns a source whose seed a failing test prints.
func random(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("repeat with -seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// fault checks that err is about one field of a limit and says what to do.
func fault(t *testing.T, err error, field string) {
	t.Helper()
	var e *sluice.LimitError
	if !errors.As(err, &e) || !errors.Is(err, sluice.ErrInvalidLimit) {
		t.Fatalf("got %v, want a LimitError about %s", err, field)
	}
	if e.Field != field || e.Reason == "" {
		t.Errorf("got field %q, reason %q, want field %q: %v", e.Field, e.Reason, field, err)
	}
}

// panics returns what f panics with, or nil.
func panics(f func()) (what any) {
	defer func() { what = recover() }()
	f()
	return nil
}
