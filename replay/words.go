package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// thousands writes a number with commas.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// share writes how many of all: "12 (3.4 %) refused".
func share(n, all int64, what string) string {
	if all == 0 {
		return thousands(n) + " " + what
	}
	return fmt.Sprintf("%s (%s %%) %s", thousands(n), percent(n, all), what)
}

// percent writes a share in three digits, and never as 0 or 100 what is not.
func percent(n, all int64) string {
	p := 100 * float64(n) / float64(all)
	switch {
	case n > 0 && p < 0.001:
		return "< 0.001"
	case n < all && p >= 99.95:
		return "> 99.9"
	}
	return strconv.FormatFloat(p, 'g', 3, 64)
}

func date(t Instant) string { return t.Format("2006-01-02 15:04:05") }

// short writes a window's length.
func short(s Seconds) string {
	d := time.Duration(s)
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}

func bytesText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// printable returns a text that no terminal obeys.
func printable(text string) string {
	quoted := strconv.QuoteToGraphic(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-3]) + "..."
}

// levels are characters that are more and more full.
var levels = []rune("▁▂▃▄▅▆▇█")

// bars draws numbers, of which the greatest possible is most.
func bars(numbers []int64, most int64) string {
	text := make([]rune, len(numbers))
	for i, n := range numbers {
		switch {
		case n == 0 || most == 0:
			text[i] = ' '
		default:
			text[i] = levels[int(float64(n)/float64(most)*float64(len(levels)-1)+0.5)]
		}
	}
	return string(text)
}

// squeeze adds neighbours up until there are no more than width.
func squeeze(numbers []int64, width int) []int64 {
	if len(numbers) <= width {
		return numbers
	}
	per := (len(numbers) + width - 1) / width
	var sums []int64
	for i, n := range numbers {
		if i%per == 0 {
			sums = append(sums, 0)
		}
		sums[len(sums)-1] += n
	}
	return sums
}
