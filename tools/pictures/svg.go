package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// width is that of every picture, in pixels. It fits a page without scaling.
const width = 880

// A drawing is an SVG file in the making. Things drawn later lie above.
type drawing struct {
	body   strings.Builder
	height float64
	title  string
	desc   string
}

// draw starts a picture with a heading. desc says in words what the picture
// shows, for those who cannot see it.
func draw(height float64, title, subtitle, desc string) *drawing {
	d := &drawing{height: height, title: title, desc: desc}
	d.text(margin, 38, "title", title)
	d.text(margin, 60, "mute", subtitle)
	return d
}

const margin = 28

// style works without variables, so that every viewer understands it. The card
// has its own background: it stays readable on a page of any colour. The colours
// are from the palette of Okabe and Ito, which colour-blind people can tell
// apart; what was denied is also lighter in print.
const style = `
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 13px; fill: #1f2933; }
.title { font-size: 19px; font-weight: 600; }
.head { font-size: 14px; font-weight: 600; }
.big { font-size: 22px; font-weight: 650; }
.mute { fill: #5b6770; }
.small { font-size: 12px; fill: #5b6770; }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
.mid { text-anchor: middle; }
.end { text-anchor: end; }
.card { fill: #ffffff; stroke: #d5dbe1; }
.box { fill: #f3f6f9; stroke: #b8c2cc; }
.key { fill: #e3f0f8; stroke: #0072b2; }
.idle { fill: #eef1f4; }
.axis { stroke: #8a949e; fill: none; }
.grid { stroke: #e4e8ec; fill: none; }
.mark { stroke: #8a949e; stroke-dasharray: 4 4; fill: none; }
.limit { stroke: #1f2933; stroke-dasharray: 6 4; stroke-width: 1.5; fill: none; }
.arrow { stroke: #5b6770; stroke-width: 1.6; fill: none; }
.tip { fill: #5b6770; }
.yes { fill: #0072b2; }
.no { fill: #e69f00; }
.came { fill: #9aa5b1; }
.yes-line { stroke: #0072b2; stroke-width: 2.2; fill: none; stroke-linejoin: round; }
.no-line { stroke: #d55e00; stroke-width: 2.2; fill: none; stroke-linejoin: round; }
.came-line { stroke: #9aa5b1; stroke-width: 2.2; fill: none; stroke-linejoin: round; }
.yes-text { fill: #0072b2; }
.no-text { fill: #b45309; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.mute, .small { fill: #9da7b1; }
.card { fill: #12171e; stroke: #323b45; }
.box { fill: #1c232c; stroke: #4a5561; }
.key { fill: #10304a; stroke: #56b4e9; }
.idle { fill: #1b222a; }
.axis, .mark { stroke: #77828d; }
.grid { stroke: #262e37; }
.limit { stroke: #e6edf3; }
.arrow { stroke: #9da7b1; }
.tip { fill: #9da7b1; }
.yes { fill: #56b4e9; }
.no { fill: #e69f00; }
.came { fill: #66717c; }
.yes-line { stroke: #56b4e9; }
.no-line { stroke: #f08a3c; }
.came-line { stroke: #8a949e; }
.yes-text { fill: #56b4e9; }
.no-text { fill: #f5b74a; }
}
`

// String returns the whole file.
func (d *drawing) String() string {
	size := fmt.Sprintf(`width="%d" height="%s"`, width, num(d.height))
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" %s viewBox="0 0 %d %s" role="img" aria-labelledby="title desc">`+"\n",
		size, width, num(d.height)) +
		`<title id="title">` + escape(d.title) + "</title>\n" +
		`<desc id="desc">` + escape(d.desc) + "</desc>\n" +
		"<style>" + style + "</style>\n" +
		fmt.Sprintf(`<rect class="card" x="0.5" y="0.5" width="%d" height="%s" rx="10"/>`+"\n", width-1, num(d.height-1)) +
		d.body.String() + "</svg>\n"
}

func (d *drawing) text(x, y float64, class, text string) {
	fmt.Fprintf(&d.body, `<text class="%s" x="%s" y="%s">%s</text>`+"\n", class, num(x), num(y), escape(text))
}

// turned writes text that reads from bottom to top, centred at (x, y).
func (d *drawing) turned(x, y float64, class, text string) {
	fmt.Fprintf(&d.body, `<text class="%s mid" transform="translate(%s %s) rotate(-90)">%s</text>`+"\n",
		class, num(x), num(y), escape(text))
}

func (d *drawing) rect(x, y, w, h float64, class string) { d.rounded(x, y, w, h, 0, class) }

func (d *drawing) rounded(x, y, w, h, radius float64, class string) {
	round := ""
	if radius > 0 {
		round = ` rx="` + num(radius) + `"`
	}
	fmt.Fprintf(&d.body, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"%s/>`+"\n",
		class, num(x), num(y), num(w), num(h), round)
}

func (d *drawing) circle(x, y, r float64, class string) {
	fmt.Fprintf(&d.body, `<circle class="%s" cx="%s" cy="%s" r="%s"/>`+"\n", class, num(x), num(y), num(r))
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	d.path(class, point{x1, y1}, point{x2, y2})
}

type point struct{ x, y float64 }

// path connects points with straight lines.
func (d *drawing) path(class string, points ...point) {
	fmt.Fprintf(&d.body, `<path class="%s" d="%s"/>`+"\n", class, trace(points))
}

func trace(points []point) string {
	var b strings.Builder
	for i, p := range points {
		c := "L"
		if i == 0 {
			c = "M"
		}
		b.WriteString(c + num(p.x) + " " + num(p.y))
	}
	return b.String()
}

// bars collects rectangles of one class into a single path: a picture with
// thousands of bars stays small.
type bars struct{ b strings.Builder }

func (r *bars) add(x, y, w, h float64) {
	if h > 0 && w > 0 {
		fmt.Fprintf(&r.b, "M%s %sh%sv%sh-%sz", num(x), num(y), num(w), num(h), num(w))
	}
}

func (d *drawing) bars(r *bars, class string) {
	if r.b.Len() > 0 {
		fmt.Fprintf(&d.body, `<path class="%s" d="%s"/>`+"\n", class, r.b.String())
	}
}

// arrow draws a line with a tip at its end.
func (d *drawing) arrow(x1, y1, x2, y2 float64) {
	length := math.Hypot(x2-x1, y2-y1)
	ux, uy := (x2-x1)/length, (y2-y1)/length
	bx, by := x2-9*ux, y2-9*uy
	d.line(x1, y1, bx, by, "arrow")
	fmt.Fprintf(&d.body, `<path class="tip" d="%sz"/>`+"\n",
		trace([]point{{x2, y2}, {bx - 4.5*uy, by + 4.5*ux}, {bx + 4.5*uy, by - 4.5*ux}}))
}

// legend writes entries from left to right, ending at the right margin.
func (d *drawing) legend(y float64, entries ...entry) {
	x := float64(width - margin)
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		x -= 7.2*float64(len([]rune(e.text))) + 4
		d.text(x, y, "mute", e.text)
		x -= 20
		if strings.HasSuffix(e.class, "line") || e.class == "limit" {
			d.line(x, y-4, x+14, y-4, e.class)
		} else {
			d.rounded(x+1, y-10, 12, 12, 2, e.class)
		}
		x -= 18
	}
}

type entry struct{ class, text string }

// num writes a length with one digit after the point. Halves go up, also those
// that arithmetic has missed by a hair: the files are the same on all machines.
func num(x float64) string {
	return strconv.FormatFloat(math.Floor(x*10+0.5+1e-6)/10, 'f', -1, 64)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
