package recommend

import (
	"cmp"
	"context"
	"iter"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/rule"
)

// readLog reads a real log, once for all tests.
var readLog = func() func(name string) []accesslog.Entry {
	var mu sync.Mutex
	known := map[string][]accesslog.Entry{}
	return func(name string) []accesslog.Entry {
		mu.Lock()
		defer mu.Unlock()
		if known[name] == nil {
			log := accesslog.New([]accesslog.Source{accesslog.File("../accesslog/testdata/" + name + ".log.gz")}, accesslog.Options{})
			for e := range log.Entries(context.Background()) {
				known[name] = append(known[name], accesslog.Entry{
					Time: e.Time, IP: e.IP, Status: e.Status, Method: strings.Clone(e.Method), Path: strings.Clone(e.Path), Agent: strings.Clone(e.Agent),
				})
			}
		}
		return known[name]
	}
}()

func each(entries []accesslog.Entry) iter.Seq[*accesslog.Entry] {
	return func(yield func(*accesslog.Entry) bool) {
		for i := range entries {
			if !yield(&entries[i]) {
				return
			}
		}
	}
}

func collect(t testing.TB, entries []accesslog.Entry) *Traffic {
	t.Helper()
	traffic, err := Collect(rule.Rule{Key: []string{"ip"}}, each(entries))
	if err != nil {
		t.Fatal(err)
	}
	return traffic
}

// midnight is when made-up logs begin.
var midnight = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

func address(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

// visitors makes a log: so many clients that each come once in these days, and make from
// 1 to 30 requests within a minute, one second apart.
func visitors(seed uint64, clients, days int) []accesslog.Entry {
	r := rand.New(rand.NewPCG(seed, 7))
	var entries []accesslog.Entry
	for i := range clients {
		begin := midnight + r.Int64N(int64(days)*day-60e6)
		if i < 2 { // the log covers all of it
			begin = midnight + int64(i)*(int64(days)*day-40e6)
		}
		for n := range 1 + r.IntN(30) {
			entries = append(entries, accesslog.Entry{Time: begin + int64(n)*1e6, IP: address(i), Method: "GET", Path: "/" + string(rune('a'+n%20)), Status: 200, Agent: "Mozilla/5.0"})
		}
	}
	return sorted(entries)
}

func sorted(entries []accesslog.Entry) []accesslog.Entry {
	slices.SortStableFunc(entries, func(a, b accesslog.Entry) int { return cmp.Compare(a.Time, b.Time) })
	return entries
}
