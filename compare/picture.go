package compare

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The parts of a picture, in pixels.
const (
	pictureWidth = 880.0
	margin       = 28.0
	firstRow     = 112.0
	rowHeight    = 60.0
	chartHeight  = 44.0
)

// The two charts of a row: what happens in every step, and what went ahead in the period
// before it.
var (
	stepChart   = chart{left: 206, width: 236}
	periodChart = chart{left: 484, width: 170}
)

// chart is a part of a row in which time runs to the right.
type chart struct{ left, width float64 }

// place returns where the step number i of n is.
func (c chart) place(i, n int) float64 { return c.left + float64(c.width*float64(i))/float64(n) }

// figureColumns are the figures at the right of each row, by where they end.
var figureColumns = []struct {
	x          float64
	head, unit string
	figure     func(*Result) string
}{
	{706, "in any", "period", func(r *Result) string { return whole(r.WorstPeriod) }},
	{752, "in a", "tenth", func(r *Result) string { return whole(r.Burst) }},
	{802, "uneven-", "ness", func(r *Result) string { return strconv.FormatFloat(r.Unevenness, 'f', 2, 64) }},
	{852, "false", "denials", func(r *Result) string { return whole(r.FalselyDenied) }},
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// WriteSVG draws the report as one file that needs no other. It is readable on light and
// dark pages, and says in words what it shows.
func (r *Report) WriteSVG(w io.Writer) error {
	d := &svg{
		width: pictureWidth, height: firstRow + rowHeight*float64(len(r.Results)+1) + 26,
		title: "The same traffic through every limit: " + r.Traffic, about: r.words(),
	}
	d.text(margin, 38, "title", d.title)
	d.text(margin, 60, "soft", r.headline())
	r.drawHeads(d)
	r.drawOffered(d, firstRow)
	for i := range r.Results {
		r.drawResult(d, &r.Results[i], firstRow+rowHeight*float64(i+1), i%2 == 0)
	}
	bottom := firstRow + rowHeight*float64(len(r.Results)) + chartHeight
	r.drawTimes(d, stepChart, bottom, 4)
	r.drawTimes(d, periodChart, bottom, 2)
	_, err := io.WriteString(w, d.String())
	return err
}

func (r *Report) headline() string {
	text := fmt.Sprintf("%d requests in %s: %s.", r.Requests, brief(time.Duration(r.Length)), r.About)
	if r.Cut {
		text += " The log has more."
	}
	return text
}

// words tells what the picture shows.
func (r *Report) words() string {
	var b strings.Builder
	b.WriteString(r.headline())
	for i := range r.Results {
		x := &r.Results[i]
		fmt.Fprintf(&b, " %s %s: %d admitted, %d denied, at most %d in any period", x.Algorithm, optionsOf(x.Limit), x.Admitted, x.Denied, x.WorstPeriod)
		if x.Exceeded > 0 {
			fmt.Fprintf(&b, ", %d above the limit", x.Exceeded)
		}
		b.WriteString(".")
	}
	return b.String()
}

// drawHeads writes what the charts and the figures are about.
func (r *Report) drawHeads(d *svg) {
	const upper, lower = firstRow - 26.0, firstRow - 11.0
	d.text(stepChart.left, upper, "small", "in every "+brief(time.Duration(r.Step)))
	x := stepChart.left
	for _, e := range []struct{ class, text string }{{"came", "offered"}, {"yes", "goes ahead"}, {"no", "denied"}} {
		d.box(x, lower-9, 10, 10, e.class)
		d.text(x+15, lower, "small", e.text)
		x += 28 + 6*float64(len(e.text))
	}
	d.text(periodChart.left, upper, "small", "went ahead in the period before")
	d.line(periodChart.left, lower-4, periodChart.left+18, lower-4, "limit")
	d.text(periodChart.left+24, lower, "small", "the limit")
	for _, c := range figureColumns {
		d.text(c.x, upper, "small end", c.head)
		d.text(c.x, lower, "small end", c.unit)
	}
}

// most is what the upper edge of the first chart stands for.
func (r *Report) most() int64 {
	most := slices.Max(r.Offered)
	for i := range r.Results {
		most = max(most, slices.Max(r.Results[i].Yes))
	}
	return most
}

// scale returns the height of n when all of the chart is most.
func scale(n, most int64) float64 { return float64(chartHeight*float64(n)) / float64(most) }

func (r *Report) drawOffered(d *svg, top float64) {
	most := r.most()
	d.text(margin, top+28, "name", "offered")
	d.text(stepChart.left-8, top+9, "small end", whole(most))
	d.text(stepChart.left-8, top+chartHeight, "small end", "0")
	var grey shape
	for i, n := range r.Offered {
		grey.bar(stepChart.place(i, len(r.Offered)), top+chartHeight-scale(n, most), stepChart.width/float64(len(r.Offered)), scale(n, most))
	}
	d.draw(&grey, "came")
	d.line(stepChart.left, top+chartHeight, stepChart.left+stepChart.width, top+chartHeight, "axis")
}

func (r *Report) drawResult(d *svg, x *Result, top float64, band bool) {
	if band {
		d.box(margin/2, top-9, pictureWidth-margin, rowHeight, "band")
	}
	d.text(margin, top+18, "name", x.Algorithm)
	for i, line := range lines(optionsOf(x.Limit), 24) {
		d.text(margin, top+33+float64(12*i), "code", line)
	}
	r.drawSteps(d, x, top)
	r.drawPeriods(d, x, top)
	for i, c := range figureColumns {
		class := "number"
		if i == 0 && x.Exceeded > 0 {
			class += " above"
		}
		d.text(c.x, top+28, class, c.figure(x))
	}
}

// drawSteps draws what went ahead and, above it, what was denied.
func (r *Report) drawSteps(d *svg, x *Result, top float64) {
	most, n := r.most(), len(x.Yes)
	wide := stepChart.width / float64(n)
	var yes, no shape
	for i := range x.Yes {
		at, up := stepChart.place(i, n), top+chartHeight-scale(x.Yes[i], most)
		yes.bar(at, up, wide, scale(x.Yes[i], most))
		denied := min(scale(x.No[i], most), up-top) // what waited can stand below more than came
		no.bar(at, up-denied, wide, denied)
	}
	d.draw(&no, "no")
	d.draw(&yes, "yes")
	d.line(stepChart.left, top+chartHeight, stepChart.left+stepChart.width, top+chartHeight, "axis")
}

// drawPeriods draws the most that went ahead within the period before each step, up to
// twice the limit, and in another colour what is above the limit.
func (r *Report) drawPeriods(d *svg, x *Result, top float64) {
	limit, n := x.Limit.Count, len(x.Within)
	edge := 2*limit + limit/5 + 1
	bottom := top + chartHeight
	var within, above shape
	for i, count := range x.Within {
		at, wide := periodChart.place(i, n), periodChart.width/float64(n)
		below := scale(min(count, limit), edge)
		within.bar(at, bottom-below, wide, below)
		over := scale(max(min(count, edge)-limit, 0), edge)
		above.bar(at, bottom-below-over, wide, over)
	}
	d.draw(&within, "within")
	d.draw(&above, "over")
	line := bottom - scale(limit, edge)
	d.line(periodChart.left, line, periodChart.left+periodChart.width, line, "limit")
	d.text(periodChart.left-6, line+4, "small end", whole(limit))
	d.line(periodChart.left, bottom, periodChart.left+periodChart.width, bottom, "axis")
}

// drawTimes draws the axis below the last row.
func (r *Report) drawTimes(d *svg, c chart, bottom float64, ticks int) {
	for i := range ticks + 1 {
		x := c.place(i, ticks)
		d.line(x, bottom, x, bottom+4, "axis")
		d.text(x, bottom+17, "small middle", brief(time.Duration(r.Length)*time.Duration(i)/time.Duration(ticks)))
	}
}

// brief writes a time with few digits.
func brief(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.3g d", d.Hours()/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.3g h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.3g min", d.Minutes())
	case d >= time.Second || d == 0:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
}

// lines breaks a text at its spaces.
func lines(text string, width int) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		if n := len(out); n > 0 && len(out[n-1])+1+len(word) <= width {
			out[n-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}
