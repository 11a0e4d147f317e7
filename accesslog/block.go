package accesslog

import (
	"cmp"
	"slices"
	"strings"
)

// blockSize is how much of a file is read and parsed at once.
const blockSize = 256 << 10

// block is a piece of a file: whole lines of one format, and what became of them.
type block struct {
	buffer []byte // what text lies in, if this block alone does
	text   string
	format Format
	number uint64 // among those of its file
	parsed chan struct{}

	entries  []Entry
	order    []int32 // of the entries by time; empty if they are sorted
	lines    int64
	rejected []rejection
}

// rejection counts the lines that were rejected for one reason, and keeps one.
type rejection struct {
	reason Reason
	count  int64
	sample string
}

// parse reads all lines of the block.
func (b *block) parse(p Parser) {
	b.entries, b.order, b.rejected, b.lines = b.entries[:0], b.order[:0], b.rejected[:0], 0
	if cap(b.entries) == 0 {
		b.entries = make([]Entry, 0, min(strings.Count(b.text, "\n")+1, blockSize/64)) // not all may be entries
	}
	sorted, last := true, int64(0)
	for text := b.text; text != ""; {
		line := text
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		b.lines++
		e := b.next()
		if reason := parseLine(p, line, e); reason != "" {
			b.reject(reason, line)
			b.entries = b.entries[:len(b.entries)-1]
			continue
		}
		sorted = sorted && e.Time >= last
		last = e.Time
		e.serial = b.number<<32 | uint64(len(b.entries))
	}
	if !sorted {
		b.sort()
	}
}

// weight is how many bytes the block holds on to.
func (b *block) weight() int { return max(cap(b.buffer), len(b.text)) }

// next makes room for one more entry.
func (b *block) next() *Entry {
	n := len(b.entries)
	if n < cap(b.entries) {
		b.entries = b.entries[:n+1] // keeps what More has grown to
	} else {
		b.entries = append(b.entries, Entry{})
	}
	return &b.entries[n]
}

func parseLine(p Parser, line string, e *Entry) Reason {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	switch {
	case len(line) > MaxLine:
		return TooLong
	case strings.TrimSpace(line) == "":
		return Blank
	}
	return p.Parse(line, e)
}

func (b *block) reject(reason Reason, line string) {
	for i := range b.rejected {
		if r := &b.rejected[i]; r.reason == reason {
			r.count++
			return
		}
	}
	b.rejected = append(b.rejected, rejection{reason, 1, strings.Clone(line[:min(len(line), maxSample)])})
}

// sort puts the entries into the order of time; those of one instant stay as they are.
func (b *block) sort() {
	for i := range b.entries {
		b.order = append(b.order, int32(i))
	}
	slices.SortStableFunc(b.order, func(x, y int32) int {
		return cmp.Compare(b.entries[x].Time, b.entries[y].Time)
	})
}

// at returns entry number i by time.
func (b *block) at(i int) *Entry {
	if len(b.order) > 0 {
		i = int(b.order[i])
	}
	return &b.entries[i]
}
