package app

import (
	"context"
	"fmt"
	"hash/maphash"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

// ticking is a clock that tests set.
type ticking struct{ at int64 }

func (c *ticking) now() time.Time { return time.UnixMicro(c.at) }

func (c *ticking) since(t time.Time) time.Duration { return c.now().Sub(t) }

func compile(t testing.TB, rules ...rule.Rule) *rule.Set {
	t.Helper()
	set, err := rule.Compile(rule.Config{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func perIP(limit sluice.Limit) rule.Rule {
	return rule.Rule{Name: "per-ip", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: limit}}}
}

// recorded runs an engine on a clock, with a record.
func recorded(t testing.TB, bytes int64, age time.Duration, rules ...rule.Rule) (*record, *ticking, *engine.Engine) {
	t.Helper()
	clock := &ticking{}
	r := newRecord(bytes, age, clock.now, clock.since)
	e, err := engine.New(compile(t, rules...), nil, engine.WithClock(clock.now), engine.WithObserver(r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return r, clock, e
}

// TestPreviewIsReplay: of a real log, a preview of any limit decides every request as a
// replay of that log does.
func TestPreviewIsReplay(t *testing.T) {
	const most = 30_000
	r, clock, e := recorded(t, 64<<20, 100*24*time.Hour, perIP(sluice.PerMinute(20)))
	var entries []accesslog.Entry
	var translate replay.Translator
	log := accesslog.New([]accesslog.Source{accesslog.File("../../accesslog/testdata/wordpress-2016.log.gz")}, accesslog.Options{})
	for entry := range log.Entries(t.Context()) {
		if len(entries) == most {
			break
		}
		entries = append(entries, accesslog.Entry{Time: entry.Time, IP: entry.IP})
		clock.at = entry.Time
		if _, err := e.Check(t.Context(), *translate.Request(entry)); err != nil {
			t.Fatal(err)
		}
	}
	h := r.history(e.Set().Rules()[0])
	if len(h.passages) != most || h.cut {
		t.Fatalf("%d passages, cut %v", len(h.passages), h.cut)
	}
	for _, text := range []string{
		"30/m", "20/m burst=60", "sliding_log 30/m", "sliding_window 30/m", "sliding_window 30/m weighted", "fixed_window 30/m",
		"leaky_bucket 30/m", "1/s", "sliding_log 10/s", "fixed_window 100/h", "token_bucket 60/m refill=interval",
	} {
		t.Run(text, func(t *testing.T) { samePreview(t, r, e, h, entries, text) })
	}
}

// samePreview compares a preview with a replay, key by key: the order of requests of
// several keys at one instant is nobody's business.
func samePreview(t *testing.T, r *record, e *engine.Engine, h history, entries []accesslog.Entry, text string) {
	limit, err := sluice.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64][]bool{}
	report, err := replay.Run(compile(t, perIP(limit)), func(yield func(*accesslog.Entry) bool) {
		for i := range entries {
			if !yield(&entries[i]) {
				return
			}
		}
	}, replay.Options{Sample: -1, Decided: func(_ int64, _ *accesslog.Entry, ev *engine.Event) {
		key := maphash.String(r.seed, ev.Outcomes[0].Key) &^ 0xffff
		want[key] = append(want[key], ev.Decision.Allowed)
	}})
	if err != nil {
		t.Fatal(err)
	}
	next, differ := map[uint64]int{}, 0
	o, err := h.play(t.Context(), e.Set().Rules()[0], []rule.Limit{{Limit: limit}}, func(i int, allowed bool) {
		key := h.passages[i].key
		if n := next[key]; n >= len(want[key]) || want[key][n] != allowed {
			differ++
		}
		next[key]++
	})
	got := report.Rules[0]
	if err != nil || differ != 0 || o.Denied != got.Denied || o.KeysDenied != got.KeysDenied || o.Denied == 0 {
		t.Errorf("%v: %d decisions differ; %+v, and replay says %d of %d keys", err, differ, o, got.Denied, got.KeysDenied)
	}
}

// TestRecordCut: when it is full the oldest is forgotten, and the answer says from when on
// everything is there.
func TestRecordCut(t *testing.T) {
	r, clock, e := recorded(t, 160*blockBytes, time.Hour, perIP(sluice.PerSecond(1)))
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	var all []int64
	for i := range int64(100_000) {
		clock.at = start + i*1000
		all = append(all, clock.at)
		_, _ = e.Check(t.Context(), engine.Request{IP: netip.AddrFrom4([4]byte{10, 0, byte(i % 251), byte(i % 7)})})
	}
	h := r.history(e.Set().Rules()[0])
	if !h.cut || h.from <= start || h.to != clock.at {
		t.Fatalf("cut %v, from %d to %d of %d to %d", h.cut, h.from, h.to, start, clock.at)
	}
	expect := all[(h.from-start+999)/1000:]
	if len(h.passages) != len(expect) || len(expect) < 512 {
		t.Fatalf("%d passages since %d, want %d", len(h.passages), h.from, len(expect))
	}
	for i, p := range h.passages {
		if p.at != expect[i] {
			t.Fatalf("passage %d was at %d, want %d", i, p.at, expect[i])
		}
	}
	if r.blocks.made > 160 {
		t.Errorf("%d blocks, and there may be 160", r.blocks.made)
	}
}

// TestRecordAge: what is too old is left out, which is no lack of room.
func TestRecordAge(t *testing.T) {
	r, clock, e := recorded(t, 8<<20, time.Minute, perIP(sluice.PerSecond(1)))
	request := engine.Request{IP: netip.MustParseAddr("192.0.2.1")}
	for range 3 * 512 {
		clock.at += 100_000
		_, _ = e.Check(t.Context(), request)
	}
	h := r.history(e.Set().Rules()[0])
	if h.cut || h.from != clock.at-60e6 || len(h.passages) != 601 {
		t.Errorf("cut %v, from %d, %d passages", h.cut, h.from-clock.at, len(h.passages))
	}
}

// TestRecordOfQuietTraffic: gaps of hours and days are kept, and take no room.
func TestRecordOfQuietTraffic(t *testing.T) {
	r, clock, e := recorded(t, 8<<20, 60*24*time.Hour, perIP(sluice.PerSecond(1)))
	clock.at = 1e15
	var all []int64
	for _, gap := range []time.Duration{0, time.Second, 71*time.Minute + 34*time.Second + 967295*time.Microsecond, 72 * time.Minute, 0, 5 * time.Hour, 23 * time.Hour, 10 * 24 * time.Hour, 1, time.Microsecond} {
		clock.at += gap.Microseconds()
		all = append(all, clock.at)
		_, _ = e.Check(t.Context(), engine.Request{IP: netip.MustParseAddr("192.0.2.1")})
	}
	for i, p := range r.history(e.Set().Rules()[0]).passages {
		if p.at != all[i] {
			t.Errorf("passage %d was at %d, want %d", i, p.at-all[0], all[i]-all[0])
		}
	}
	if n := len(r.history(e.Set().Rules()[0]).passages); n != len(all) || r.blocks.made > 4 {
		t.Errorf("%d passages in %d blocks", n, r.blocks.made)
	}
}

// TestRecordOfAnotherRule: a rule with the same name and another key starts anew; other
// limits do not matter.
func TestRecordOfAnotherRule(t *testing.T) {
	r, clock, e := recorded(t, 8<<20, time.Hour, perIP(sluice.PerSecond(1)))
	request := engine.Request{IP: netip.MustParseAddr("192.0.2.1"), User: "alice"}
	swap := func(c rule.Rule) int {
		clock.at += 1e6
		if err := e.Swap(compile(t, c)); err != nil {
			t.Fatal(err)
		}
		_, _ = e.Check(t.Context(), request)
		return len(r.history(e.Set().Rules()[0]).passages)
	}
	byUser := perIP(sluice.PerSecond(1))
	byUser.Key = []string{"user"}
	if a, b, c, d := swap(perIP(sluice.PerSecond(1))), swap(perIP(sluice.PerSecond(9))), swap(byUser), swap(perIP(sluice.PerSecond(1))); a != 1 || b != 2 || c != 1 || d != 3 {
		t.Errorf("%d %d %d %d passages", a, b, c, d)
	}
}

// TestPreviewElsewhere: what another rule refused is not played.
func TestPreviewElsewhere(t *testing.T) {
	other := rule.Rule{Name: "all", Limits: []rule.Limit{{Limit: sluice.PerHour(3)}}}
	shadow := rule.Rule{Name: "shadow", Mode: rule.Shadow, Limits: []rule.Limit{{Limit: sluice.PerHour(1)}}}
	r, _, e := recorded(t, 8<<20, time.Hour, perIP(sluice.PerHour(100)), other, shadow)
	for range 10 {
		_, _ = e.Check(t.Context(), engine.Request{IP: netip.MustParseAddr("192.0.2.1")})
	}
	for i, want := range []struct{ requests, elsewhere, denied int64 }{{3, 7, 1}, {10, 0, 8}, {3, 7, 1}} {
		c := e.Set().Rules()[i]
		h := r.history(c)
		requests, keys, elsewhere := h.count()
		o, err := h.play(t.Context(), c, []rule.Limit{{Limit: sluice.PerHour(2)}}, nil)
		if err != nil || requests != want.requests || elsewhere != want.elsewhere || keys != 1 || o.Denied != want.denied {
			t.Errorf("%s: %d requests of %d keys, %d elsewhere, %+v, %v", c.Name, requests, keys, elsewhere, o, err)
		}
	}
}

// TestRecordConcurrent: nothing is lost or seen twice while many write and somebody reads.
func TestRecordConcurrent(t *testing.T) {
	r := newRecord(8<<20, time.Hour, now, time.Since)
	c := compile(t, perIP(sluice.PerSecond(1))).Rules()[0]
	const writers, each = 8, 4000
	var done sync.WaitGroup
	for w := range writers {
		done.Go(func() {
			for i := range each {
				outcome := engine.Outcome{Rule: c, Key: fmt.Sprintf("per-ip|%d-%d", w, i%50), Cost: 1, Allowed: true, Enforced: true}
				r.Observe(&engine.Event{Outcomes: []engine.Outcome{outcome}})
			}
		})
	}
	last := 0
	for range 20 {
		n := len(r.history(c).passages)
		if n < last {
			t.Errorf("%d passages after %d", n, last)
		}
		last = n
	}
	done.Wait()
	h := r.history(c)
	if _, keys, _ := h.count(); len(h.passages) != writers*each || keys != writers*50 {
		t.Errorf("%d passages of %d keys", len(h.passages), keys)
	}
}

// TestPreviewEnds: who leaves does not keep the server busy.
func TestPreviewEnds(t *testing.T) {
	r, _, e := recorded(t, 8<<20, time.Hour, perIP(sluice.PerSecond(1)))
	_, _ = e.Check(t.Context(), engine.Request{IP: netip.MustParseAddr("192.0.2.1")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := e.Set().Rules()[0]
	h := r.history(c)
	if _, err := h.play(ctx, c, c.Limits, nil); err == nil {
		t.Error("it was played to the end")
	}
}
