package replay

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"n": thousands, "share": share, "date": date, "short": short, "bytes": bytesText, "join": strings.Join,
	"chart": chartOf, "peaks": peakChart, "yes": yes, "spreads": func() []Spread { return Spreads },
	"whole": func(s Seconds) string { return time.Duration(s).Round(time.Second).String() },
}).Parse(page))

// WriteHTML writes the report as one file with charts, which needs no other.
func (r *Report) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, r) }

// The size of charts, in the units of their drawing.
const (
	chartWidth  = 960.0
	chartHeight = 120.0 // of the requests
	deniedTop   = 122.0 // of the refusals, which hang below on a scale of their own
	deniedDepth = 38.0
)

// column is a bar of a chart.
type column struct {
	X, Width     float64
	Y, Height    float64 // of all
	DeniedY      float64
	DeniedHeight float64
	Text         string
}

// chart is a timeline as it is drawn.
type chart struct {
	Columns []column
	Most    int64
	Denied  int64 // the most of one column
	From    Instant
	To      Instant
	Step    Seconds
}

// chartOf draws a timeline.
func chartOf(t Timeline) chart {
	c := chart{From: t.From, Step: t.Step}
	if len(t.Requests) == 0 {
		return c
	}
	c.Most, c.Denied = max(slices.Max(t.Requests), 1), max(slices.Max(t.Denied), 1)
	step := time.Duration(t.Step)
	c.To = Instant{t.From.Add(step * time.Duration(len(t.Requests)))}
	width := chartWidth / float64(len(t.Requests))
	for i, n := range t.Requests {
		denied := t.Denied[i]
		height := chartHeight * float64(n) / float64(c.Most)
		refused := deniedDepth * float64(denied) / float64(c.Denied)
		if denied > 0 {
			refused = max(refused, 2) // a single one can be seen
		}
		at := Instant{t.From.Add(step * time.Duration(i))}
		c.Columns = append(c.Columns, column{
			X: width * float64(i), Width: max(width-0.5, 0.5), Y: chartHeight - height, Height: height,
			DeniedY: deniedTop, DeniedHeight: refused,
			Text: date(at) + ": " + share(denied, n, "refused of "+thousands(n)),
		})
	}
	return c
}

// peakBar is one percentile of how busy keys get.
type peakBar struct {
	Name  string
	Value int64
	Width float64 // of 100
}

// peakChart draws the percentiles of a window.
func peakChart(p KeyPeaks) []peakBar {
	bars := []peakBar{
		{"p50", p.P50, 0},
		{"p90", p.P90, 0},
		{"p95", p.P95, 0},
		{"p99", p.P99, 0},
		{"p99.9", p.P999, 0},
		{"p99.99", p.P9999, 0},
		{"max", p.Max, 0},
	}
	for i := range bars {
		bars[i].Width = 100 * float64(bars[i].Value) / float64(max(p.Max, 1))
	}
	return bars
}
