package local

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/bench/frame"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{9, 1}, 5},
		{[]float64{5, 1, 100}, 5},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := frame.Median(c.in); got != c.want {
			t.Errorf("frame.Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	r := Result{Case: "allowed", Figures: []Figure{
		{Name: "floor", Kind: Floor, Value: 40},
		{Name: "sluice", Kind: Ours, Value: 42.04},
		{Name: "quick but wrong", Kind: Peer, Value: 10},
		{Name: "right and quick", Kind: Peer, Value: 84.08, Exact: true},
		{Name: "right", Kind: Peer, Value: 100, Exact: true},
	}}
	want := "case=allowed ours=42.0 floor=40 best_exact_peer=right_and_quick best=84.1 ours/floor=1.05 best/ours=2.00"
	if got := r.Line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	r.Figures = r.Figures[2:3]
	r.Extra = []Field{{"also", "this"}}
	want = "case=allowed ours=- floor=- best_exact_peer=- best=- ours/floor=- best/ours=- also=this"
	if got := r.Line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLineOfNothingPerOperation(t *testing.T) {
	r := Result{Case: "allocs", Figures: []Figure{{Kind: Ours}, {Kind: Floor}, {Name: "p", Kind: Peer, Value: 2, Exact: true}}}
	want := "case=allocs ours=0 floor=0 best_exact_peer=p best=2 ours/floor=- best/ours=-"
	if got := r.Line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTableShowsWhereWeLose(t *testing.T) {
	var b bytes.Buffer
	Result{Case: "c", Title: "t", Unit: "ns/op", Figures: []Figure{
		{Name: "we", Kind: Ours, Value: 20, Exact: true},
		{Name: "they", Kind: Peer, Value: 10, Exact: true},
	}}.Table(&b)
	they, we := strings.Index(b.String(), "| they | 10 | 0.50 |"), strings.Index(b.String(), "| **we** | 20 | 1.00 |")
	if they < 0 || we < they {
		t.Errorf("unexpected table:\n%s", b.String())
	}
}

func TestKeysAreDistinct(t *testing.T) {
	const n = 50_000
	all := keySpan(0, n)
	seen := make(map[string]bool, n)
	for i := range n {
		seen[all[i*KeyLen:(i+1)*KeyLen]] = true
	}
	if len(seen) != n {
		t.Errorf("%d distinct keys of %d", len(seen), n)
	}
}

func TestSequences(t *testing.T) {
	const keys, n = 1_000, 100_000
	known := map[string]bool{}
	for all := keySpan(0, keys); len(all) > 0; all = all[KeyLen:] {
		known[all[:KeyLen]] = true
	}
	draw := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	uniform := topShare(t, known, uniformSequence(draw(), keys, n))
	zipf := topShare(t, known, zipfSequence(draw(), 1.1, keys, n))
	// The most popular of 1,000 keys has 1/Σ k^-1.1 = 18 % of Zipf's draws.
	if uniform > 0.003 || zipf < 0.16 || zipf > 0.20 {
		t.Errorf("the most popular key has %.3f of the uniform and %.3f of the Zipf draws", uniform, zipf)
	}
	once, again := zipfSequence(draw(), 1.1, keys, n), zipfSequence(draw(), 1.1, keys, n)
	if once != again {
		t.Error("the same seed gave two sequences")
	}
}

func topShare(t *testing.T, known map[string]bool, seq string) float64 {
	t.Helper()
	counts := map[string]int{}
	total, top := 0, 0
	for ; len(seq) > 0; seq = seq[KeyLen:] {
		key := seq[:KeyLen]
		if !known[key] {
			t.Fatalf("unknown key %q", key)
		}
		counts[key]++
		top = max(top, counts[key])
		total++
	}
	return float64(top) / float64(total)
}

func TestWalkStartsApartAndGoesRound(t *testing.T) {
	seq := keySpan(0, 4*batch)
	var log recorder
	first, second := walk(&log, seq, 0, 2), walk(&log, seq, 1, 2)
	first()
	second()
	second()
	second()
	want := []string{seq[:KeyLen], seq[2*batch*KeyLen:][:KeyLen], seq[3*batch*KeyLen:][:KeyLen], seq[:KeyLen]}
	if strings.Join(log.starts, " ") != strings.Join(want, " ") {
		t.Errorf("batches start with %v, want %v", log.starts, want)
	}
}

type recorder struct{ starts []string }

func (r *recorder) Run(seq string) Tally {
	r.starts = append(r.starts, seq[:KeyLen])
	return Tally{Admitted: int64(len(seq) / KeyLen)}
}

func TestOneKeyMakesAsManyDecisionsAsAsked(t *testing.T) {
	k := &syncMap[*int]{make: func() *int { return new(int) }, allow: func(n *int) bool { *n++; return *n <= 70 }}
	for _, n := range []int{1, 63, 64, 65} {
		if got := (oneKey{k}).Run(n).Total(); got != int64(n) {
			t.Errorf("asked for %d, got %d", n, got)
		}
	}
	v, _ := k.m.Load(oneKeySeq[:KeyLen])
	if n := *v.(*int); n != 193 {
		t.Errorf("the one key was asked %d times, want 193", n)
	}
}

func TestInterleaveMeasuresEverybodyEveryRound(t *testing.T) {
	es := []*entrant{
		singleEntrant(Contestant{NewSingle: func(Quota) Single { return fixed(true) }}, plenty),
		singleEntrant(Contestant{NewSingle: func(Quota) Single { return fixed(false) }}, plenty),
	}
	interleave(es, 2, 3, time.Microsecond, rand.New(rand.NewPCG(1, 1)), func(string) {})
	for i, e := range es {
		if len(e.rounds) != 3 || e.tally.Total() < 3*batch || (e.tally.Admitted > 0) != (i == 0) {
			t.Errorf("entrant %d: rounds %v, %+v", i, e.rounds, e.tally)
		}
	}
}

// fixed always gives the same answer.
type fixed bool

func (f fixed) Run(n int) (t Tally) {
	for range n {
		t.count(bool(f))
	}
	return t
}

func TestFigureTellsUnwantedOutcomes(t *testing.T) {
	r := &Runner{}
	e := &entrant{Contestant: Contestant{Doubt: "wrong"}, rounds: []float64{1}, tally: Tally{Admitted: 990, Denied: 5, Errors: 5}}
	f := r.figureOf(e, allAdmitted)
	if want := "0.50 % errors; 0.50 % denied; wrong"; f.Note != want || f.Exact {
		t.Errorf("got %q, want %q", f.Note, want)
	}
}

func TestReportIsJSON(t *testing.T) {
	var b bytes.Buffer
	rep := Report{Results: []Result{{Case: "c", Figures: []Figure{{Name: "n", Kind: Floor, Value: 1}}}}}
	if err := rep.WriteJSON(&b); err != nil || !json.Valid(b.Bytes()) || !strings.Contains(b.String(), `"kind": "floor"`) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestCaseNames(t *testing.T) {
	names := CaseNames(Config{})
	all := " " + strings.Join(names, " ") + " "
	for _, want := range []string{
		"allowed", "denied", "hot-allowed", "hot-denied", "coarse", "keyed-uniform", "keyed-zipf",
		"keys-1k", "keys-10k", "keys-100k", "keys-1M", "keys-10M", "allocs", "bytes-per-key", "flood", "exact",
	} {
		if !strings.Contains(all, " "+want+" ") {
			t.Errorf("no case %s in%s", want, all)
		}
	}
}

// TestRunOfOneCase runs the smallest case from end to end with one peer.
func TestRunOfOneCase(t *testing.T) {
	var out, progress bytes.Buffer
	rep := Run(Config{
		Config: frame.Config{Rounds: 1, Time: time.Microsecond, Seed: 3, Cases: regexp.MustCompile("^denied$")},
		Quick:  true,
		Peers:  regexp.MustCompile("^juju$"),
	}, &out, &progress)
	if len(rep.Results) != 1 || !strings.Contains(out.String(), "\ncase=denied ours=") {
		t.Errorf("output:\n%s", out.String())
	}
	if best, ok := rep.Results[0].best(); !ok || best.Name != "juju" {
		t.Errorf("best exact peer %v", best)
	}
}
