package redis

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/bench/frame"
)

func sample() Result {
	return Result{
		Case: "c", Title: "t", Unit: "decisions/s", Columns: []string{"p50 µs"},
		Figures: []Figure{
			{Name: "raw", Kind: Floor, Value: 1000, Cells: []string{"1"}},
			{Name: "sluice", Kind: Ours, Value: 500, Cells: []string{"2"}},
			{Name: "fast but wrong", Kind: Peer, Value: 900, Cells: []string{"3"}, Note: "wrong"},
			{Name: "right and fast", Kind: Peer, Value: 400, Counts: true, Cells: []string{"4"}},
			{Name: "right", Kind: Peer, Value: 100, Counts: true, Cells: []string{"5"}},
			{Name: "right, tuned", Kind: Tuned, Value: 600, Counts: true, Cells: []string{"6"}},
			{Name: "sluice, other", Kind: Variant, Value: 700, Counts: true, Cells: []string{"7"}},
		},
		Extra: []Field{{"also", "this"}},
		Bars:  []Bar{{What: "x", Got: 1.2, Want: 1.5}, {What: "y", Got: 1.2, Want: 1.5, AtMost: true}},
	}
}

func TestLine(t *testing.T) {
	want := "case=c ours=500 floor=1000 best_peer=right_and_fast best=400 ours/floor=0.50 ours/best=1.25 also=this"
	if got := sample().Line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want = "case=c ours=- floor=- best_peer=- best=- ours/floor=- ours/best=-"
	if got := (Result{Case: "c"}).Line(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	lower := sample()
	lower.Lower = true
	if best, _ := lower.best(); best.Name != "right" {
		t.Errorf("the best of lower figures is %v", best)
	}
}

func TestTableHasTheBestFirst(t *testing.T) {
	for _, lower := range []bool{false, true} {
		r := sample()
		r.Lower = lower
		var b bytes.Buffer
		r.Table(&b)
		first, last := strings.Index(b.String(), "| raw |"), strings.Index(b.String(), "| right |")
		if first < 0 || last < 0 || (first < last) == lower {
			t.Errorf("lower is better %v:\n%s", lower, b.String())
		}
		if !strings.Contains(b.String(), "| **sluice** | 500 | 1.00 | 2 |  |\n") {
			t.Errorf("no row of ours in\n%s", b.String())
		}
	}
}

func TestLosses(t *testing.T) {
	var b bytes.Buffer
	writeLosses(&b, []Result{sample()})
	want := []string{
		"- c: we reach 500 decisions/s; fast but wrong 900 (does not count), right, tuned 600",
		"- c: mark missed: x 1.20, wanted ≥ 1.50",
	}
	got := strings.Split(strings.TrimSpace(b.String()), "\n")[2:]
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", b.String())
	}
	b.Reset()
	writeLosses(&b, nil)
	if !strings.Contains(b.String(), "Nowhere") {
		t.Errorf("got\n%s", b.String())
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 0.123: "0.12", 3.14159: "3.14", 31.4159: "31.4", 31415.9: "31416"} {
		if got := number(v, true); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{5, 1, 100}, 5}} {
		if got := frame.Median(c.in); got != c.want {
			t.Errorf("frame.Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}
