package replay_test

import (
	"bufio"
	"compress/gzip"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// algorithms are all there are, each in a size that refuses some of both logs.
var algorithms = []string{
	"token_bucket 20/m burst=40", "token_bucket 30/m refill=interval", "leaky_bucket 1/s burst=10", "warm_up 2/s warm_up=10s max_wait=1s",
	"fixed_window 30/m", "fixed_window 30/m start=first_hit", "fixed_window 60/d zone=America/New_York",
	"sliding_window 30/m", "sliding_window 30/m weighted", "sliding_log 30/m",
}

// arrival is a request as a server gets it.
type arrival struct {
	at time.Time
	r  engine.Request
}

// arrivals reads a log by other means than accesslog, and sorts it.
func arrivals(t *testing.T, name string) (list []arrival) {
	t.Helper()
	file, err := os.Open("../accesslog/testdata/" + name + ".log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(z); in.Scan(); {
		client, rest, _ := strings.Cut(in.Text(), " ")
		_, rest, _ = strings.Cut(rest, "[")
		stamp, rest, _ := strings.Cut(rest, "]")
		at, err := time.Parse("02/Jan/2006:15:04:05 -0700", stamp)
		if err != nil {
			t.Fatal(err)
		}
		r := engine.Request{IP: netip.MustParseAddr(client)}
		if words := strings.Fields(strings.TrimPrefix(rest, ` "`)); len(words) > 1 && words[0] != `-"` {
			r.Method = words[0]
			r.Path, r.Query, _ = strings.Cut(words[1], "?")
		}
		list = append(list, arrival{at, r})
	}
	slices.SortStableFunc(list, func(a, b arrival) int { return a.at.Compare(b.at) })
	return list
}

// entriesOf reads a log as the command does, and keeps it.
func entriesOf(t testing.TB, name string) (entries []*accesslog.Entry) {
	t.Helper()
	log := openLog(name)
	for e := range log.Entries(t.Context()) {
		kept := *e
		kept.Method, kept.Path, kept.Query, kept.Agent, kept.More = strings.Clone(e.Method), strings.Clone(e.Path), strings.Clone(e.Query), strings.Clone(e.Agent), nil
		entries = append(entries, &kept)
	}
	if log.Err() != nil {
		t.Fatal(log.Err())
	}
	return entries
}

// answer is what a client sees of a decision.
type answer struct {
	allowed bool
	reason  sluice.Reason
	retry   time.Duration
	wait    time.Duration
}

func answerOf(d *engine.Decision) answer {
	return answer{d.Allowed, d.Reason, d.RetryAfter(), d.Wait()}
}

func oneRule(t testing.TB, limit string, key ...string) *rule.Set {
	t.Helper()
	l, err := sluice.Parse(limit)
	if err != nil {
		t.Fatal(err)
	}
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "all", Key: key, Limits: []rule.Limit{{Limit: l}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestReplayIsLive: an engine as a server runs it, with a store of its own and a clock
// that says when each request comes, decides every request of both logs as the replay
// does, by every algorithm.
func TestReplayIsLive(t *testing.T) {
	for _, name := range logs {
		list, read := arrivals(t, name), entriesOf(t, name)
		most := min(mostRequests, len(list))
		list, read = list[:most], read[:min(most, len(read))]
		for _, limit := range algorithms {
			t.Run(name+"/"+limit, func(t *testing.T) {
				set := oneRule(t, limit, "ip")
				now := list[0].at
				clock := func() time.Time { return now }
				live, err := engine.New(set, memstore.New(memstore.WithClock(clock)), engine.WithClock(clock))
				if err != nil {
					t.Fatal(err)
				}
				defer live.Close()
				i, different, denied := 0, 0, int64(0)
				report, err := replay.Run(set, slices.Values(read), replay.Options{Sample: -1, Decided: func(at int64, e *accesslog.Entry, ev *engine.Event) {
					a := &list[i]
					i++
					now = a.at
					said, err := live.Check(t.Context(), a.r)
					if err != nil {
						t.Fatal(err)
					}
					if answerOf(&said) != answerOf(&ev.Decision) || at != a.at.UnixMicro() || e.IP != a.r.IP {
						if different++; different < 5 {
							t.Errorf("request %d of %v at %v: live %+v, replay %+v", i, e.IP, a.at, answerOf(&said), answerOf(&ev.Decision))
						}
					}
					if !said.Allowed {
						denied++
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				if different > 0 || i != len(list) || report.Denied != denied {
					t.Errorf("%d of %d requests differ, %d of %d came; %d denied, %d live", different, len(list), i, len(list), report.Denied, denied)
				}
				// Without a callback the runner takes shortcuts, which must change nothing.
				if quick, err := replay.Run(set, slices.Values(read), replay.Options{Sample: -1}); err != nil || quick.Denied != denied || denied == 0 {
					t.Errorf("%d denied without callback, want %d; %v", quick.Denied, denied, err)
				}
			})
		}
	}
}
