package accesslog

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
)

// file is a source that is being read.
type file struct {
	source *Source
	number int
	start  int64 // earliest of its first entries; math.MinInt64 if nobody looked
	blocks chan *block
	err    error // set before blocks is closed
	ended  bool  // all of its blocks were received

	spilled bool  // a temporary file of ours
	lost    int64 // entries of it that cannot be read, set before blocks is closed

	held, share int // entries in the window, and how many there may be
	bytes       int // of the blocks in which they lie
}

func (f *file) name() string { return f.source.Name }

// manyFiles is up to how many are read at once without a look at their times before.
const manyFiles = 4

// minShare is the smallest part of the window that a file gets.
const minShare = 4096

// lineWeight is how many bytes may be held for each line of the window: long lines, and
// those that are rejected around a few good ones, must not take memory without bound.
const lineWeight = 2 << 10

// meet opens the files, or if there are many finds out when each begins, so that only
// those are open that cover the same time.
func (l *Log) meet() {
	for i := range l.sources {
		f := &file{source: &l.sources[i], number: i, start: math.MinInt64}
		if len(l.sources) > manyFiles && f.source.Again {
			f.start = l.firstTime(f.source)
		}
		l.waiting = append(l.waiting, f)
	}
	slices.SortStableFunc(l.waiting, func(a, b *file) int { return cmp.Compare(a.start, b.start) })
}

// openDue opens files that may hold what comes next. It reports whether it did.
func (l *Log) openDue() bool {
	opened := false
	for len(l.waiting) > 0 && !l.ended() {
		f := l.waiting[0]
		if f.start != math.MinInt64 && len(l.window.runs) > 0 && f.start > l.window.runs[0].time {
			break
		}
		l.waiting = l.waiting[1:]
		l.start(f)
		opened = true
		if f.start != math.MinInt64 {
			break // what it holds may come before the next file
		}
	}
	return opened
}

// start begins to read a file.
func (l *Log) start(f *file) {
	f.blocks = make(chan *block, 2*runtime.GOMAXPROCS(0))
	l.files = append(l.files, f)
	l.divide()
	read := func() {
		defer close(f.blocks)
		f.err = l.readFile(f)
	}
	if f.source.Again {
		l.work.Go(read)
	} else {
		go read() // a read of the standard input may never return: nobody waits for it
	}
}

// divide gives each open file its part of the window.
func (l *Log) divide() {
	for _, open := range l.files {
		least := minShare
		if open.spilled {
			least = minSpillShare // it is in order
		}
		open.share = max(l.opts.Window/len(l.files), min(least, l.opts.Window))
	}
}

// readFile cuts a file into blocks, for those who parse and for fill.
func (l *Log) readFile(f *file) error {
	in, err := f.source.open(l.opts.Zstd, &l.read)
	if err != nil {
		return err
	}
	defer in.Close()
	c := cutter{name: f.name(), in: in, format: l.opts.Format, known: l.opts.Settings, blank: l.blank, ended: l.ended}
	c.emit = func(b *block) bool {
		select {
		case l.jobs <- b:
		case <-l.stop:
			return false
		}
		select {
		case f.blocks <- b:
			return true
		case <-l.stop:
			return false
		}
	}
	if err := c.run(); err != nil {
		return err
	}
	if (c.format == unknown{}) { // that of an empty file is nil
		return fmt.Errorf("accesslog: %s has none of the known formats: name one, as nginx's log_format for instance", f.name())
	}
	return nil
}

// firstTime returns the earliest time in the beginning of a source: of as many lines as
// it may hold in the window at least.
func (l *Log) firstTime(s *Source) int64 {
	var ignored atomic.Int64
	in, err := s.open(l.opts.Zstd, &ignored)
	if err != nil {
		return math.MinInt64 // it will be told when it is read
	}
	defer in.Close()
	start, seen := int64(math.MaxInt64), 0
	c := cutter{name: s.Name, in: in, format: l.opts.Format, known: l.opts.Settings, blank: l.blank, ended: l.ended}
	c.emit = func(b *block) bool {
		b.parse(b.format.Parser())
		if len(b.entries) > 0 {
			start = min(start, b.at(0).Time)
		}
		seen += len(b.entries)
		return seen < minShare && b.number < 16
	}
	_ = c.run() // it will be told when it is read
	if seen == 0 {
		return math.MinInt64
	}
	return start
}
