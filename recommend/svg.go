package recommend

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
)

// Measures of the picture.
const (
	svgWidth, svgHeight = 760, 380
	svgLeft, svgRight   = 70, 30
	svgTop, svgBottom   = 50, 60
	svgLeast            = 1e-5 // the share at the bottom, where also nothing is
)

// WriteSVG draws the front of the first recommendation: what limits of each size refuse
// of those who count, with bounds.
func (r *Report) WriteSVG(w io.Writer) error {
	out := bufio.NewWriter(w)
	f := &r.Fits[0]
	c := canvas{out: out, low: float64(f.Front[0].Most), high: float64(f.Front[len(f.Front)-1].Most) * 1.2}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", svgWidth, svgHeight)
	fmt.Fprintf(out, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", svgWidth, svgHeight)
	c.text(svgLeft, 20, "start", "#111", "Who would be refused wrongly, by limits from small to large")
	c.text(svgLeft, 36, "start", "#555", fmt.Sprintf("recommended: %s; the bars go up to the bound with 95 %% confidence", f.Limit))
	c.axes(r.per())
	c.target(r.Target.Keys)
	for i := range f.Front {
		c.point(&f.Front[i])
	}
	c.legend()
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// canvas turns limits and shares into places.
type canvas struct {
	out       io.Writer
	low, high float64 // limits at the left and the right
}

func (c *canvas) x(most int64) float64 {
	return svgLeft + (svgWidth-svgLeft-svgRight)*math.Log(float64(most)/c.low)/math.Log(c.high/c.low)
}

func (c *canvas) y(share float64) float64 {
	up := math.Log(max(share, svgLeast)/svgLeast) / math.Log(1/svgLeast)
	return svgHeight - svgBottom - (svgHeight-svgTop-svgBottom)*up
}

func (c *canvas) text(x, y float64, anchor, colour, text string) {
	fmt.Fprintf(c.out, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, colour, html.EscapeString(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64, style string) {
	fmt.Fprintf(c.out, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`+"\n", x1, y1, x2, y2, style)
}

// axes draws a line for each power of ten.
func (c *canvas) axes(per string) {
	for share := 1.0; share >= svgLeast*0.99; share /= 10 {
		c.line(svgLeft, c.y(share), svgWidth-svgRight, c.y(share), `stroke="#ddd"`)
		label := percent(share)
		if share < svgLeast*2 {
			label = "none"
		}
		c.text(svgLeft-6, c.y(share)+4, "end", "#555", label)
	}
	for _, n := range []int64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000} {
		if f := float64(n); f >= c.low && f <= c.high {
			c.text(c.x(n), svgHeight-svgBottom+18, "middle", "#555", thousands(n))
		}
	}
	c.text((svgWidth+svgLeft-svgRight)/2, svgHeight-svgBottom+38, "middle", "#555", "the most that one key gets in 1 "+per)
}

func (c *canvas) target(keys float64) {
	c.line(svgLeft, c.y(keys), svgWidth-svgRight, c.y(keys), `stroke="#2a7" stroke-dasharray="5 4"`)
	c.text(svgLeft+4, c.y(keys)-5, "start", "#2a7", "target: "+percent(keys)+" of the keys")
}

// point draws keys as a dot with its bound, and requests as a ring.
func (c *canvas) point(p *Point) {
	x := c.x(p.Most)
	c.line(x, c.y(p.Rates.Keys), x, c.y(p.Bound.Keys), `stroke="#c33" stroke-width="2"`)
	radius := 4
	if p.Recommended {
		c.line(x, svgTop, x, svgHeight-svgBottom, `stroke="#36c" stroke-dasharray="2 3"`)
		radius = 6
	}
	fmt.Fprintf(c.out, `<circle cx="%.1f" cy="%.1f" r="%d" fill="#c33"/>`+"\n", x, c.y(p.Rates.Keys), radius)
	fmt.Fprintf(c.out, `<circle cx="%.1f" cy="%.1f" r="4" fill="none" stroke="#888" stroke-width="1.5"/>`+"\n", x, c.y(p.Rates.Requests))
}

func (c *canvas) legend() {
	y := float64(svgHeight - 8)
	fmt.Fprintf(c.out, `<circle cx="%d" cy="%.1f" r="4" fill="#c33"/>`+"\n", svgLeft+5, y-4)
	c.text(svgLeft+15, y, "start", "#111", "keys refused at least once")
	fmt.Fprintf(c.out, `<circle cx="%d" cy="%.1f" r="4" fill="none" stroke="#888" stroke-width="1.5"/>`+"\n", svgLeft+200, y-4)
	c.text(svgLeft+210, y, "start", "#111", "requests refused")
	c.text(svgLeft+340, y, "start", "#36c", "dotted: what is recommended")
}
