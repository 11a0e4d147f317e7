package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
	"github.com/sluice-limiter/sluice/rule"
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// entry is a request of client n so many milliseconds after the beginning.
func entry(ms int, client byte, agent string) *accesslog.Entry {
	return &accesslog.Entry{
		Time: epoch.Add(time.Duration(ms) * time.Millisecond).UnixMicro(), IP: netip.AddrFrom4([4]byte{192, 0, 2, client}),
		Method: "GET", Path: "/", Agent: agent,
	}
}

func run(t *testing.T, set *rule.Set, entries iter.Seq[*accesslog.Entry], o replay.Options) *replay.Report {
	t.Helper()
	r, err := replay.Run(set, entries, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReport: every figure of a small log that can be counted by hand.
func TestReport(t *testing.T) {
	const browser, robot = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "Somebot/1.0"
	var entries []*accesslog.Entry
	for i := range 10 { // a person: ten within 9 s, of which 2 a minute pass
		entries = append(entries, entry(1000*i, 1, browser))
	}
	for range 5 { // a robot at 30 s
		entries = append(entries, entry(30_000, 2, robot))
	}
	entries = append(entries, entry(70_000, 1, browser), entry(71_000, 3, ""))
	r := run(t, oneRule(t, "sliding_log 2/m", "ip"), slices.Values(entries), replay.Options{})
	got := r.Rules[0]
	if r.Requests != 17 || r.Denied != 11 || got.Requests != 17 || got.Denied != 11 || got.Keys != 3 || got.KeysDenied != 2 {
		t.Errorf("%+v", got)
	}
	if at := func(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }; !got.First.Equal(at(2000)) || !got.Last.Equal(at(30_000)) || !r.From.Equal(at(0)) || !r.To.Equal(at(71_000)) {
		t.Errorf("refusals from %v to %v, requests from %v to %v", got.First, got.Last, r.From, r.To)
	}
	if w := got.Worst; len(w) != 1 || w[0].Denied != 11 || w[0].Requests != 15 || !w[0].At.Equal(epoch) {
		t.Errorf("worst %+v", w)
	}
	if s := got.Suspects; s.Keys != 1 || s.Requests != 8 || len(s.Top) != 1 || s.Top[0].Key != "192.0.2.1" || s.Top[0].Agent != browser {
		t.Errorf("suspects %+v", s)
	}
	if d := got.Denials; len(d) != 2 || d[0].Denied != 8 || d[1].Denied != 3 || d[1].Key != "192.0.2.2" || d[1].Good || d[0].Requests != 11 || d[0].Peak != 10 || d[0].Reason != "limited" {
		t.Errorf("refused %+v", d)
	}
	if l := got.Longest; l == nil || l.Key != "192.0.2.1" || time.Duration(l.For) != 7*time.Second || !l.From.Equal(epoch.Add(2*time.Second)) {
		t.Errorf("longest %+v", l)
	}
	if p := got.KeyPeaks; p[0].P50 != 1 || p[0].Max != 5 || p[1].Max != 10 || p[2].Max != 10 || p[3].Max != 11 || time.Duration(p[2].Over) != time.Minute {
		t.Errorf("peaks of keys %+v", p)
	}
	if p := r.Peaks; p[0].Requests != 5 || !p[0].At.Equal(epoch.Add(30*time.Second)) || p[2].Requests != 15 || p[3].Requests != 17 {
		t.Errorf("peaks %+v", p)
	}
	if tl := got.Timeline; time.Duration(tl.Step) != time.Second || tl.Requests[30] != 5 || tl.Denied[30] != 3 || len(tl.Requests) != 72 {
		t.Errorf("timeline %+v", tl)
	}
	if r.Spread.Coarse != 0 || r.Spread.Denied != nil || r.Memory.Keys < 3 || r.Memory.Bytes == 0 {
		t.Errorf("%+v %+v", r.Spread, r.Memory)
	}
	roundTrip(t, r)
}

// TestLongest: a refusal ends with the next allowance.
func TestLongest(t *testing.T) {
	var entries []*accesslog.Entry
	for _, ms := range []int{0, 1000, 4000, 60_000, 61_000, 62_000} { // the first of each minute passes
		entries = append(entries, entry(ms, 1, "Mozilla"))
	}
	r := run(t, oneRule(t, "sliding_log 1/m", "ip"), slices.Values(entries), replay.Options{})
	if l := r.Rules[0].Longest; l == nil || time.Duration(l.For) != 3*time.Second || r.Denied != 4 {
		t.Errorf("%d denied, longest %+v", r.Denied, l)
	}
	r = run(t, oneRule(t, "sliding_log 1/m", "ip"), slices.Values(entries[:2]), replay.Options{})
	if l := r.Rules[0].Longest; l == nil || l.For != 0 || !l.From.Equal(epoch.Add(time.Second)) {
		t.Errorf("one refusal: longest %+v", l)
	}
}

// roundTrip writes a report and reads it again.
func roundTrip(t *testing.T, r *replay.Report) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again replay.Report
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(&again)
	if err != nil || string(second) != string(text) {
		t.Errorf("%v\n%s\n%s", err, text, second)
	}
}

// TestSpread: where in its second a request is put decides at the edge of a window, and
// the report tells all ways.
func TestSpread(t *testing.T) {
	var entries []*accesslog.Entry
	for second := range 3 { // twenty each: at once a bucket of 10 has too few, spread it has not
		for i := range 20 {
			e := entry(1000*second, 1, "")
			e.Coarse, e.Place, e.Among = true, int32(i), 20
			entries = append(entries, e)
		}
	}
	set := oneRule(t, "token_bucket 20/s burst=10", "ip")
	denied := map[replay.Spread]int64{}
	for _, s := range replay.Spreads {
		r := run(t, set, slices.Values(entries), replay.Options{Spread: s, Seed: 7})
		denied[s] = r.Denied
		if r.Spread.Model != s || r.Spread.Coarse != 60 || r.Spread.Over != 60 || !reflect.DeepEqual(r.Spread.Denied, run(t, set, slices.Values(entries), replay.Options{Seed: 7}).Spread.Denied) {
			t.Errorf("%s: %+v", s, r.Spread)
		}
		if r.Spread.Denied[s] != r.Denied {
			t.Errorf("%s: %d denied, %+v", s, r.Denied, r.Spread)
		}
	}
	if denied[replay.SpreadStart] != 30 || denied[replay.SpreadUniform] != 0 || denied[replay.SpreadRandom] == 30 {
		t.Errorf("denied %v", denied)
	}
	r := run(t, set, slices.Values(entries), replay.Options{Sample: 25})
	if r.Spread.Over != 25 || r.Spread.Denied[replay.SpreadStart] != 10 {
		t.Errorf("of the first 25: %+v", r.Spread)
	}
	if _, err := replay.ParseSpread("even"); err == nil {
		t.Error("an unknown spread is taken")
	}
}

// TestSpreadOrder: instants are in the order of the log and inside the second.
func TestSpreadOrder(t *testing.T) {
	var entries []*accesslog.Entry
	for i := range 2000 {
		e := entry(i/1000*1000, 1, "")
		e.Coarse, e.Place, e.Among = true, int32(i%1000), 1000
		entries = append(entries, e)
	}
	for _, s := range replay.Spreads {
		last, sum := epoch.UnixMicro(), int64(0)
		for e := range replay.Retime(slices.Values(entries), s, 1, nil) {
			if e.Time < last || e.Time >= epoch.UnixMicro()+2e6 || e.Coarse {
				t.Fatalf("%s: %d after %d", s, e.Time, last)
			}
			last = e.Time
			sum += e.Time - epoch.UnixMicro()
		}
		if mean := sum / 2000; s != replay.SpreadStart && (mean < 950_000 || mean > 1_050_000) {
			t.Errorf("%s: on average at %d µs", s, mean)
		}
	}
}

// TestCompare: who is newly refused and who no longer, by key.
func TestCompare(t *testing.T) {
	strict, err := rule.Compile(rule.Config{Rules: []rule.Rule{
		{Name: "all", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerMinute(1).With(sluice.SlidingLog)}}, Skip: rule.Skip{IPs: []string{"192.0.2.2"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var entries []*accesslog.Entry
	for i := range 6 {
		entries = append(entries, entry(1000*i, 1, "Mozilla"), entry(1000*i, 2, ""))
	}
	r := run(t, oneRule(t, "sliding_log 4/m", "ip"), slices.Values(entries), replay.Options{Other: strict})
	want := replay.Comparison{
		Denied:   5,
		Newly:    []replay.Change{{Rule: "all", Key: "192.0.2.1", Requests: 3, Good: true}},
		NoLonger: []replay.Change{{Rule: "all", Key: "192.0.2.2", Requests: 2}},
		NewlyAll: replay.Total{Requests: 3, Keys: 1}, GoneAll: replay.Total{Requests: 2, Keys: 1},
	}
	if !reflect.DeepEqual(*r.Comparison, want) {
		t.Errorf("got %+v, want %+v", *r.Comparison, want)
	}
}

// TestKeys: everything that a log tells can be a part of the key, and rules in shadow
// are told too.
func TestKeys(t *testing.T) {
	e := entry(0, 1, "agent")
	e.User, e.Host, e.Path, e.Query, e.Key = "ann", "h", "/x", "q=1", "whom"
	e.More = []accesslog.Field{{Name: "header:X-Key", Value: "k"}, {Name: "cookie:sid", Value: "s"}, {Name: "attribute:plan", Value: "free"}}
	for part, want := range map[string]string{
		"ip": "192.0.2.1", "user": "ann", "host": "h", "method": "GET", "path": "/x", "query:q": "1", "header:x-key": "k", "header:User-Agent": "agent",
		"cookie:sid": "s", "attribute:plan": "free", "attribute:key": "whom", "const:c": "c",
	} {
		set, err := rule.Compile(rule.Config{Rules: []rule.Rule{{Name: "r", Key: []string{part}, Mode: rule.Shadow, Limits: []rule.Limit{{Limit: sluice.MustParse("0/s")}}}}})
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, set, slices.Values([]*accesslog.Entry{e, e}), replay.Options{})
		if len(r.Rules[0].Denials) != 1 || r.Rules[0].Denials[0].Key != want || r.Denied != 0 || r.Shadow != 2 || r.Rules[0].Denied != 2 || r.Rules[0].Mode != "shadow" {
			t.Errorf("%s: %+v", part, r.Rules[0])
		}
	}
}

// TestNothing: no requests, no rules, faulty requests.
func TestNothing(t *testing.T) {
	none := slices.Values([]*accesslog.Entry(nil))
	r := run(t, oneRule(t, "1/s", "ip"), none, replay.Options{})
	if r.Requests != 0 || len(r.Rules) != 1 || r.Rules[0].Requests != 0 {
		t.Errorf("%+v", r)
	}
	roundTrip(t, r)
	if _, err := replay.Run(nil, none, replay.Options{}); err == nil {
		t.Error("no rules, and no error")
	}
	if _, err := replay.Run(oneRule(t, "1/s"), none, replay.Options{Spread: "x"}); err == nil {
		t.Error("an unknown spread, and no error")
	}
	faulty := entry(0, 1, "")
	faulty.Cost = -1
	if r = run(t, oneRule(t, "1/s", "ip"), slices.Values([]*accesslog.Entry{faulty}), replay.Options{}); r.Errors != 1 || !strings.Contains(r.Error, "cost -1") || r.Denied != 0 {
		t.Errorf("%+v", r)
	}
}

// TestManyKeys: many keys keep their counts apart.
func TestManyKeys(t *testing.T) {
	const keys = 20_000
	e := entry(0, 0, "")
	entries := func(yield func(*accesslog.Entry) bool) {
		for i := range 3 * keys {
			n := i % keys
			e.IP = netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
			if !yield(e) {
				return
			}
		}
	}
	r := run(t, oneRule(t, "sliding_log 2/m", "ip"), entries, replay.Options{Sample: -1})
	got := r.Rules[0]
	if got.Keys != keys || got.KeysDenied != keys || got.Denied != keys || got.KeyPeaks[0].P50 != 3 || got.KeyPeaks[0].Max != 3 || len(got.Denials) != replay.DefaultTop {
		t.Errorf("%+v", got)
	}
}

// TestPrints: both ways to print a report tell its figures, and obey nobody.
func TestPrints(t *testing.T) {
	evil := "<script>alert(1)</script>\x1b[2J"
	var entries []*accesslog.Entry
	for i := range 300 {
		e := entry(i*60_000, 1, evil)
		e.User = evil
		e.Coarse, e.Among = true, 1
		entries = append(entries, e)
	}
	r := run(t, oneRule(t, "sliding_log 1/h", "user"), slices.Values(entries), replay.Options{Other: oneRule(t, "0/s", "user")})
	r.Counted(accesslog.Lines{Total: 302, Parsed: 300, Rejected: 2, Reasons: []accesslog.Rejected{{Reason: accesslog.Shape, Count: 2, File: "f", Sample: "x<y"}}, Late: 3, Latest: time.Minute, Formats: []string{"combined"}})
	r.Live = &replay.Live{Target: "http://127.0.0.1", Speed: 2, Sent: 10, Allowed: 4, Denied: 6, Equal: 9}
	var text, page strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"302 lines: 300 parsed, 2 rejected (combined)", "2 × does not have", "x<y", "3 lines came up to 1m0s later", "295 (98.3 %) refused", "up to 5 in 5 min", "newly", "as predicted", "p99.99"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "\x1b") {
		t.Error("the text holds an escape of the terminal")
	}
	for _, bad := range []string{"<script", "http://example", "src=", "href=", "@import", "url("} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"<svg", "</html>", "x&lt;y", `class="no"`, "295"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func ExampleRun() {
	set, err := rule.Compile(rule.Config{Rules: []rule.Rule{
		{Name: "everybody", Key: []string{"ip"}, Limits: []rule.Limit{{Limit: sluice.PerMinute(60).With(sluice.SlidingLog)}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	log := accesslog.New([]accesslog.Source{accesslog.File("../accesslog/testdata/semicomplete-2015.log.gz")}, accesslog.Options{})
	report, err := replay.Run(set, log.Entries(context.Background()), replay.Options{})
	if err != nil || log.Err() != nil {
		fmt.Println(err, log.Err())
		return
	}
	report.Counted(log.Lines())
	r := report.Rules[0]
	fmt.Println(report.Lines.Parsed, "lines parsed,", report.Lines.Rejected, "rejected")
	fmt.Println(r.Denied, "of", r.Requests, "requests refused,", r.KeysDenied, "of", r.Keys, "keys")
	// Output:
	// 10000 lines parsed, 0 rejected
	// 87 of 10000 requests refused, 2 of 1753 keys
}
