package compare_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/compare"
)

// entries are those of n clients, each of whom makes three requests in one second.
func entries(clients int) []*accesslog.Entry {
	var all []*accesslog.Entry
	for i := range clients {
		for range 3 {
			all = append(all, &accesslog.Entry{Time: int64(1_000_000 * (100 + i)), IP: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})})
		}
	}
	return all
}

// TestFromLog: every client has its own budget, or all share one.
func TestFromLog(t *testing.T) {
	limit := sluice.MustParse("sliding_log 2/h")
	for perClient, want := range map[bool]int64{true: 20, false: 2} {
		traffic, err := compare.FromLog("access.log", slices.Values(entries(10)), perClient)
		if err != nil {
			t.Fatal(err)
		}
		r, err := compare.Run(traffic, []sluice.Limit{limit})
		if err != nil {
			t.Fatal(err)
		}
		if x := r.Results[0]; r.Requests != 30 || x.Admitted != want || x.WorstPeriod != 2 || r.Traffic != "access.log" || (r.Keys > 1) != perClient {
			t.Errorf("%+v", r)
		}
	}
	if _, err := compare.FromLog("empty.log", slices.Values(entries(0)), true); err == nil || !strings.Contains(err.Error(), "fewer than two requests") {
		t.Error(err)
	}
}

// TestFalselyDenied: a request that comes exactly a period after the one before it passes
// an exact log, and a weighted window denies it.
func TestFalselyDenied(t *testing.T) {
	log := []*accesslog.Entry{{Time: 100_000_000}, {Time: 101_000_000}, {Time: 101_000_001}, {Time: 101_999_999}}
	traffic, err := compare.FromLog("x", slices.Values(log), false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare.Run(traffic, []sluice.Limit{sluice.MustParse("sliding_window 1/s weighted"), sluice.MustParse("sliding_log 1/s")})
	if err != nil || r.Results[0].Denied != 3 || r.Results[0].FalselyDenied != 3 || r.Results[1].Denied != 2 || r.Results[1].FalselyDenied != 0 {
		t.Errorf("%v %+v", err, r.Results)
	}
}

// TestFromLogNames: who has no address is known by the key of the log, or shares a budget
// with all others of whom nothing is known.
func TestFromLogNames(t *testing.T) {
	log := []*accesslog.Entry{{Time: 1, Key: "ann"}, {Time: 2, Key: "bob"}, {Time: 3}, {Time: 4}}
	traffic, err := compare.FromLog("x", slices.Values(log), true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare.Run(traffic, []sluice.Limit{sluice.MustParse("fixed_window 1/h")})
	if err != nil || r.Keys != 3 || r.Results[0].Admitted != 3 {
		t.Errorf("%v %+v", err, r)
	}
}
