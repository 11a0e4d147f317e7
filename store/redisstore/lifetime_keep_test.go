package redisstore_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// keeper is a server with a store whose clock is the test's. Its keys live ten
// minutes longer than by the clock of the server.
type keeper struct {
	*redisstore.Store
	client *resp.Client
	now    time.Time
}

func newKeeper(t *testing.T) *keeper {
	k := &keeper{client: dial(t, redistest.Start(t)), now: time.Date(2024, 5, 17, 10, 20, 30, 0, time.UTC)}
	k.Store = open(t, k.client, redisstore.WithClock(func() time.Time { return k.now }), redisstore.DenialCache(0, 0))
	return k
}

// want checks for how many seconds a key lives; the test itself may take thirty.
func (k *keeper) want(t *testing.T, what string, c *store.Check, seconds int64) {
	t.Helper()
	most := 1000 * (seconds + 600)
	if lives := do(t, k.client, "PTTL", redisstore.StateKey(k.Store, c)).(int64); lives > most || lives < most-30_000 {
		t.Errorf("%s: lives %d ms, want %d at most, and almost", what, lives, most)
	}
}

// TestLifetimeStays: the life of a bucket is set when less than a second of what it
// was given more is left, and when it is much too long.
func TestLifetimeStays(t *testing.T) {
	k := newKeeper(t)
	bucket, windows := everyKind(t)[0], everyKind(t)[4:9] // one token in 36 s; an hour
	check := store.Check{Key: "k", Spec: bucket, Cost: 1}
	for i, seconds := range []int64{36 + 41, 77, 3*36 + 113, 221, 221, 221, 7*36 + 257} {
		take(t, k, store.Spend, check)
		k.want(t, fmt.Sprint("spend ", i), &check, seconds)
	}
	check.Cost = 6
	take(t, k, store.Refund, check)
	k.want(t, "refund", &check, 36+41)
	check.Cost = 1
	k.now = k.now.Add(-time.Hour) // the state is cut, and counts until the same hour
	take(t, k, store.Spend, check)
	k.want(t, "the clock goes back", &check, 36+41)
	second := store.Check{Key: "second", Spec: mustCompile(t, algo.Spec{Kind: algo.TokenBucket, Count: 1, Period: 1e6, Burst: 1000})}
	for _, step := range []struct{ cost, seconds int64 }{{36, 36 + 41}, {40, 77}, {1, 77 + 82}} { // a second is left, then none
		second.Cost = step.cost
		take(t, k, store.Spend, second)
		k.want(t, fmt.Sprint("spend of ", step.cost), &second, step.seconds)
	}
	for _, p := range windows {
		check := store.Check{Key: fmt.Sprint(p.Kind, p.FirstHit, p.Sub), Spec: p, Cost: 1}
		left := p.ResetAfter(take(t, k, store.Spend, check)[0].Verdict) / 1e6
		k.want(t, "window", &check, left+5)
		take(t, k, store.Spend, check)
		k.want(t, "window again", &check, left+5)
	}
}

var setCalls = regexp.MustCompile(`cmdstat_set:calls=(\d+)`)

// TestLifetimeInOneCall: a key that is asked about twice in a call is written once,
// with a life, however its requests differ.
func TestLifetimeInOneCall(t *testing.T) {
	k := newKeeper(t)
	for i, p := range []*algo.Spec{everyKind(t)[0], everyKind(t)[4]} {
		var call []redisstore.Decision
		for _, cost := range []int64{1, 2, 3} {
			for _, key := range []string{"a", "b", "c"} {
				call = append(call, redisstore.Decision{Checks: []store.Check{{Key: fmt.Sprint(key, i), Spec: p, Cost: cost}}})
			}
		}
		do(t, k.client, "CONFIG", "RESETSTAT")
		if err := k.TakeMany(context.Background(), call); err != nil {
			t.Fatal(err)
		}
		if found := setCalls.FindStringSubmatch(do(t, k.client, "INFO", "commandstats").(string)); found[1] != "3" {
			t.Errorf("%s writes for 3 keys", found[1])
		}
		for _, d := range call {
			if left := p.Remaining(d.Checks[0].Verdict); left != 99 && left != 97 && left != 94 {
				t.Errorf("%d are left", left)
			}
		}
	}
	wantLifetimes(t, k.client)
}

// TestFormerVersion: values of the version before, whose lives end with their states,
// go on, and their lives are set.
func TestFormerVersion(t *testing.T) {
	k := newKeeper(t)
	for i, p := range append(everyKind(t)[:9], everyKind(t)[0], everyKind(t)[4]) {
		checks := []store.Check{{Key: fmt.Sprint("k", i), Spec: p, Cost: 50}}
		if i > 8 { // not alone in the value
			checks = append(checks, store.Check{Key: checks[0].Key, Spec: everyKind(t)[6], Cost: 50})
		}
		take(t, k, store.Spend, checks...)
		key := redisstore.StateKey(k.Store, &checks[0])
		value := do(t, k.client, "GET", key).(string)
		former := "\x01" + value[4:]
		if len(value) == 28 {
			former = "\x01\x03\x03\x00" + value[4:]
		}
		do(t, k.client, "SET", key, former, "PX", "100000")
		before, denies := checks[0].Verdict, p.Kind == algo.WarmUp || p.Kind == algo.LeakyBucket
		after := take(t, k, store.Spend, store.Check{Key: checks[0].Key, Spec: p, Cost: 1})[0].Verdict
		if left := p.Remaining(after); left != p.Remaining(before)-1 && !denies {
			t.Errorf("limit %d: %d left after %d", i, left, p.Remaining(before))
		}
		if now := do(t, k.client, "GET", key).(string); !denies && (now[0] != 2 || len(now) != len(value)) {
			t.Errorf("limit %d: %q became %q", i, former, now)
		}
		if lives := do(t, k.client, "PTTL", key).(int64); !denies && lives < 600_000 {
			t.Errorf("limit %d lives %d ms, its life was not set", i, lives)
		}
	}
}
