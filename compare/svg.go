package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// svg is a picture in the making. Things drawn later lie above.
type svg struct {
	body          strings.Builder
	width, height float64
	title, about  string // about says in words what is to be seen, for those who cannot see it
}

// style works without variables, so that every viewer understands it. The card has its
// own background: it stays readable on a page of any colour. Its colours differ in tone
// as well, so that colour-blind people can tell them apart.
const style = `
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 13px; fill: #1f2933; }
.title { font-size: 19px; font-weight: 600; }
.name { font-size: 14px; font-weight: 600; }
.number { font-size: 14px; text-anchor: end; font-variant-numeric: tabular-nums; }
.soft { fill: #5b6770; }
.small { font-size: 11.5px; fill: #5b6770; }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 11px; fill: #5b6770; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.card { fill: #ffffff; stroke: #d5dbe1; }
.band { fill: #f6f8fa; }
.axis { stroke: #8a949e; fill: none; }
.limit { stroke: #1f2933; stroke-dasharray: 5 3; stroke-width: 1.2; fill: none; }
.yes { fill: #0072b2; }
.no { fill: #f0c16a; }
.came { fill: #9aa5b1; }
.within { fill: #9fc5dd; }
.over { fill: #d55e00; }
.above { fill: #b45309; font-weight: 700; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.soft, .small, .code { fill: #a3adb7; }
.card { fill: #12171e; stroke: #323b45; }
.band { fill: #181f27; }
.axis { stroke: #77828d; }
.limit { stroke: #e6edf3; }
.yes { fill: #56b4e9; }
.no { fill: #7d5a14; }
.came { fill: #66717c; }
.within { fill: #2b5f80; }
.over { fill: #f08a3c; }
.above { fill: #f5b74a; }
}
`

// String returns the whole file, which needs no other.
func (d *svg) String() string {
	w, h := number(d.width), number(d.height)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="title about">`+"\n", w, h, w, h) +
		`<title id="title">` + escape(d.title) + "</title>\n" +
		`<desc id="about">` + escape(d.about) + "</desc>\n" +
		"<style>" + style + "</style>\n" +
		fmt.Sprintf(`<rect class="card" x="0.5" y="0.5" width="%s" height="%s" rx="10"/>`+"\n", number(d.width-1), number(d.height-1)) +
		d.body.String() + "</svg>\n"
}

func (d *svg) text(x, y float64, class, text string) {
	fmt.Fprintf(&d.body, `<text class="%s" x="%s" y="%s">%s</text>`+"\n", class, number(x), number(y), escape(text))
}

func (d *svg) box(x, y, w, h float64, class string) {
	fmt.Fprintf(&d.body, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n", class, number(x), number(y), number(w), number(h))
}

func (d *svg) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.body, `<path class="%s" d="M%s %sL%s %s"/>`+"\n", class, number(x1), number(y1), number(x2), number(y2))
}

// shape collects rectangles of one class into a single path: a picture with a thousand
// bars stays small.
type shape struct{ path strings.Builder }

func (s *shape) bar(x, y, w, h float64) {
	if h > 0 {
		fmt.Fprintf(&s.path, "M%s %sh%sv%sh-%sz", number(x), number(y), number(w), number(h), number(w))
	}
}

func (d *svg) draw(s *shape, class string) {
	if s.path.Len() > 0 {
		fmt.Fprintf(&d.body, `<path class="%s" d="%s"/>`+"\n", class, s.path.String())
	}
}

// number writes a length with one digit after the point. Halves go up, also those that
// arithmetic has missed by a hair: the files are the same on all machines.
func number(x float64) string {
	return strconv.FormatFloat(math.Floor(float64(x*10)+0.5+1e-6)/10, 'f', -1, 64)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
