package oracle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/algo/algotest"
	"github.com/sluice-limiter/sluice/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const second = 1_000_000

var limits = map[string]algo.Spec{
	"bucket":   {Kind: algo.TokenBucket, Count: 10, Period: second, Burst: 5},
	"window":   {Kind: algo.FixedWindow, Count: 5, Period: second},
	"sliding":  {Kind: algo.SlidingWindow, Count: 5, Period: second, Sub: 10},
	"weighted": {Kind: algo.WeightedWindow, Count: 5, Period: second},
	"log":      {Kind: algo.SlidingLog, Windows: []algo.Window{{Count: 5, Period: second}, {Count: 20, Period: 10 * second}}},
	"first":    {Kind: algo.FixedWindow, Count: 5, Period: second, FirstHit: true},
}

func admit(at, cost int64) Entry { return Entry{Start: at, End: at, Now: at, Cost: cost} }

func deny(at, cost int64) Entry {
	return Entry{Start: at, End: at, Now: at, Cost: cost, Outcome: Denied}
}

func fail(at, cost int64) Entry {
	return Entry{Start: at, End: at, Cost: cost, Outcome: Failed}
}

// TestWrongLogs: every kind of lie is found, in every algorithm.
func TestWrongLogs(t *testing.T) {
	const at = 100 * second
	for name, def := range limits {
		for _, c := range []struct {
			name    string
			entries []Entry
			terms   Terms
			want    string // begin of the complaint; empty for none
		}{
			{"all right", []Entry{admit(at, 5), deny(at, 1), admit(at+2*second, 5)}, Terms{}, ""},
			{"the order of the log does not matter", []Entry{admit(at+2*second, 5), deny(at, 1), admit(at, 5)}, Terms{}, ""},
			{"too much at once", []Entry{admit(at, 6)}, Terms{}, "I1"},
			{"too much in pieces", []Entry{admit(at, 3), admit(at+10, 2), admit(at+20, 1)}, Terms{}, "I1"},
			{"denied too early", []Entry{admit(at, 4), deny(at, 1)}, Terms{}, "I2"},
			{"denied too long", []Entry{admit(at, 5), deny(at+3*second, 5)}, Terms{}, "I2"},
			{"a failure may have been spent", []Entry{admit(at, 4), fail(at, 1), deny(at, 1)}, Terms{}, ""},
			{"a failure that began later", []Entry{admit(at, 4), {Start: at - 10, End: at + 10, Now: at + 5, Cost: 1, Outcome: Denied}, fail(at+2, 1)}, Terms{}, ""},
			{"a failure after the denial", []Entry{admit(at, 4), deny(at, 1), fail(at+1, 1)}, Terms{}, "I2"},
			{"a failure excuses no excess", []Entry{admit(at, 5), fail(at, 1), admit(at, 1)}, Terms{}, "I1"},
			{"forgotten within the terms", []Entry{admit(at, 5), admit(at, 5)}, Terms{Lost: 5}, ""},
		} {
			problems, _ := Judge(def, c.entries, c.terms)
			if got := strings.Join(problems, "; "); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, %s: %q, want %q", name, c.name, got, c.want)
			}
		}
	}
}

// TestLocalDenials: a denial of which only start and end are known is wrong if it
// was so all the time in between.
func TestLocalDenials(t *testing.T) {
	def := algo.Spec{Kind: algo.TokenBucket, Count: 10, Period: second, Burst: 5}
	const at = 100 * second
	local := func(start, end int64) Entry {
		return Entry{Start: start, End: end, Now: end, Cost: 1, Outcome: Denied, Local: true}
	}
	for name, c := range map[string]struct {
		denial Entry
		wrong  bool
	}{
		"right at its start": {local(at+50_000, at+300_000), false},
		"wrong at its start": {local(at+100_000, at+300_000), true},
		"right at its end":   {local(at-10, at+10), false},
		"wrong at its end":   {local(at-10, at-5), true},
	} {
		if problems, _ := Judge(def, []Entry{admit(at, 5), c.denial}, Terms{}); len(problems) > 0 != c.wrong {
			t.Errorf("%s: %q", name, problems)
		}
	}
}

// TestTerms: beyond what may be forgotten, an excess is one. Algorithms whose
// promise holds for more than one window allow for twice the count.
func TestTerms(t *testing.T) {
	const at = 100 * second
	for name, most := range map[string]int64{"bucket": 10, "window": 10, "sliding": 10, "log": 10, "weighted": 15} {
		for _, cost := range []int64{most, most + 1} {
			problems, _ := Judge(limits[name], []Entry{admit(at, cost)}, Terms{Lost: 5})
			if found := len(problems) > 0; found != (cost > most) {
				t.Errorf("%s: %d at once, 5 may be forgotten: %q", name, cost, problems)
			}
		}
	}
}

// fake is a store whose answers are made up.
type fake struct {
	store.Store
	take func(c *store.Check) error
}

func (f fake) Take(_ context.Context, _ store.Op, checks []store.Check) error {
	return f.take(&checks[0])
}

// recorder notes that a test complained.
type recorder struct {
	testing.TB
	complaints []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.complaints = append(r.complaints, fmt.Sprintf(format, args...))
}

// TestLog: what a store answers is what the log says, and the real model passes.
func TestLog(t *testing.T) {
	def := limits["bucket"]
	p, err := algo.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	var clock atomic.Int64
	clock.Store(100 * second)
	model := algotest.NewModel(func() time.Time { return time.UnixMicro(clock.Load()) })
	var log Log
	for i := range 200 {
		clock.Add(int64(i%3) * 30_000)
		s := fake{take: func(c *store.Check) error {
			checks := []store.Check{*c}
			err := model.Take(t.Context(), store.Spend, checks)
			*c = checks[0]
			c.Now = clock.Load()
			return err
		}}
		log.Spend(t.Context(), s, fmt.Sprint("k", i%2), p, 1+int64(i%3))
	}
	if judged := log.Check(t, def, Terms{}); judged != log.Count(Denied) || judged == 0 {
		t.Errorf("%d of %d denials were judged", judged, log.Count(Denied))
	}
	broken := fake{take: func(*store.Check) error { return errors.New("down") }}
	if e := log.Spend(t.Context(), broken, "k0", p, 7); e.Outcome != Failed || e.Err == nil || e.Now != 0 {
		t.Errorf("a failure is noted as %+v", e)
	}
	if log.Cost("k0", Failed) != 7 || log.Count(Failed) != 1 {
		t.Error("a failure is not counted")
	}
}

// TestConservation: a lost answer and a wrong budget are found.
func TestConservation(t *testing.T) {
	var log Log
	log.add(admit(1, 5))
	log.add(fail(2, 3))
	log.begun.Store(3)
	r := &recorder{TB: t}
	log.Check(r, limits["bucket"], Terms{})
	if len(r.complaints) != 1 || !strings.HasPrefix(r.complaints[0], "I3") {
		t.Errorf("a request without an answer: %q", r.complaints)
	}
	for spent, wrong := range map[int64]bool{4: true, 5: false, 8: false, 9: true} {
		r := &recorder{TB: t}
		log.CheckSpent(r, "", spent)
		if got := len(r.complaints) > 0; got != wrong {
			t.Errorf("%d spent: %q", spent, r.complaints)
		}
	}
}
