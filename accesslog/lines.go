package accesslog

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSample is how much of a rejected line is kept, in bytes.
const maxSample = 240

// Lines tells what became of the lines of a log: Total = Parsed + Rejected.
type Lines struct {
	Total    int64
	Parsed   int64
	Rejected int64
	Reasons  []Rejected // why, most frequent first

	Late   int64         // parsed, but beyond the window: decided later than they came
	Latest time.Duration // how much later at most

	Formats []string // that were read
}

// Rejected counts the lines that were rejected for one reason.
type Rejected struct {
	Reason Reason
	Count  int64
	File   string // of the sample
	Sample string // the beginning of such a line, ready to be printed
}

// tally counts lines.
type tally struct {
	total, rejected int64
	reasons         []Rejected
	late, latest    int64
	formats         []string
}

// add counts the lines of a block.
func (t *tally) add(b *block, file string) {
	t.total += b.lines
	if _, header := b.format.(headerLine); !header && !slices.Contains(t.formats, b.format.Name()) && len(t.formats) < maxErrors {
		t.formats = append(t.formats, b.format.Name())
	}
	for _, r := range b.rejected {
		t.rejected += r.count
		i := slices.IndexFunc(t.reasons, func(o Rejected) bool { return o.Reason == r.reason })
		if i < 0 {
			i = len(t.reasons)
			t.reasons = append(t.reasons, Rejected{Reason: r.reason, File: file, Sample: printable(r.sample)})
		}
		t.reasons[i].Count += r.count
	}
}

// lose rejects entries that were read and could not be kept until they are due.
func (t *tally) lose(n int64) {
	if n == 0 {
		return
	}
	t.rejected += n
	if i := slices.IndexFunc(t.reasons, func(o Rejected) bool { return o.Reason == Unsorted }); i >= 0 {
		t.reasons[i].Count += n
		return
	}
	t.reasons = append(t.reasons, Rejected{Reason: Unsorted, Count: n})
}

// printable returns a text that no terminal obeys.
func printable(text string) string {
	quoted := strconv.QuoteToGraphic(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func (t *tally) lines() Lines {
	reasons := slices.Clone(t.reasons)
	slices.SortStableFunc(reasons, func(a, b Rejected) int { return cmp.Compare(b.Count, a.Count) })
	return Lines{
		Total: t.total, Parsed: t.total - t.rejected, Rejected: t.rejected, Reasons: reasons,
		Late: t.late, Latest: time.Duration(t.latest) * time.Microsecond, Formats: slices.Clone(t.formats),
	}
}
