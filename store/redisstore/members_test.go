package redisstore_test

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

const fleet = "sluice:1m:{fleet}"

// TestBeatsInOneCall: beats that ride together count as if they came one by one.
func TestBeatsInOneCall(t *testing.T) {
	c := dial(t, redistest.Start(t))
	now := time.Date(2024, 5, 17, 10, 20, 30, 0, time.UTC)
	s := open(t, c, redisstore.WithClock(func() time.Time { return now }))
	ctx := context.Background()
	want := func(what string, ids []string, holds []time.Duration, rank, live []int64) {
		t.Helper()
		gotRank, gotLive, err := s.BeatMany(ctx, "fleet", ids, holds...)
		if err != nil || !slices.Equal(gotRank, rank) || !slices.Equal(gotLive, live) {
			t.Errorf("%s: ranks %d of %d (%v), want %d of %d", what, gotRank, gotLive, err, rank, live)
		}
	}
	want("new", []string{"b", "a"}, []time.Duration{time.Hour, time.Second}, []int64{0, 0}, []int64{1, 2})
	if lives := do(t, c, "PTTL", fleet).(int64); lives < time.Hour.Milliseconds() {
		t.Errorf("the group lives %d ms, one holds for an hour", lives)
	}
	now = now.Add(2 * time.Second)
	want("a was dead", []string{"a", "c"}, []time.Duration{time.Hour, time.Hour}, []int64{0, 2}, []int64{2, 3})
	want("none is lost", []string{"b"}, []time.Duration{time.Hour}, []int64{1}, []int64{3})
	want("b leaves", []string{"b", "c"}, []time.Duration{0, time.Hour}, []int64{1, 1}, []int64{2, 2})
	want("all leave", []string{"a", "c", "a"}, []time.Duration{0, 0, 0}, []int64{0, 0, 0}, []int64{1, 0, 0})
	if keys := allKeys(t, c); len(keys) != 0 {
		t.Errorf("all have left, and there is %q", keys)
	}
}

// TestBrokenMember: a member whose expiry is no instant is dead.
func TestBrokenMember(t *testing.T) {
	c := dial(t, redistest.Start(t))
	s := open(t, c)
	for _, expiry := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300} {
		do(t, c, "HSET", fleet, "broken", string(doubles(expiry)), "short", "1234567")
		rank, live, err := s.Beat(context.Background(), "fleet", "me", time.Minute)
		if rank != 0 || live != 1 || err != nil {
			t.Errorf("beside a member that lives until %v: rank %d of %d (%v)", expiry, rank, live, err)
		}
		if fields := do(t, c, "HLEN", fleet).(int64); fields != 1 {
			t.Errorf("%d members are left, want 1", fields)
		}
	}
}

// doubles packs numbers as the script does.
func doubles(numbers ...float64) (packed []byte) {
	for _, n := range numbers {
		packed = binary.LittleEndian.AppendUint64(packed, math.Float64bits(n))
	}
	return packed
}
