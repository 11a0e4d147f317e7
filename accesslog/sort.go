package accesslog

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// fanIn is how many temporary files are merged into one: so few are open at once, and a
// log is written twice only if it has more than so many windows. Tests make it smaller.
var fanIn = 64

// minSpillShare is the smallest part of the window that a temporary file gets.
const minSpillShare = 256

// sorter puts a log into order through temporary files. Those of a level are merged into
// one of the next as soon as there are fanIn of them, so that what lies in a higher level
// stood earlier in the log.
type sorter struct {
	*Log
	levels [][]*spill
	failed bool // a file could not be written: there is no use in reading on
}

// sortAll reads all files. Each windowful is put into order and written to a temporary
// file; what is left for next is to merge these.
func (l *Log) sortAll() {
	s := sorter{Log: l}
	sources := l.waiting
	l.waiting = nil
	for _, f := range sources {
		if l.ended() || s.failed {
			break
		}
		l.start(f)
		for more := true; more && !s.failed; {
			f.share = max(l.opts.Window-l.window.size(), 0)
			if more = l.fill(f); more {
				s.keep(0, l.spillWindow)
			}
		}
		l.files = nil
	}
	if len(l.window.runs) > 0 {
		s.keep(0, l.spillWindow)
	}
	slices.Reverse(s.levels)
	l.openSpills(slices.Concat(s.levels...))
}

// keep writes a temporary file of a level.
func (s *sorter) keep(level int, write func(to *spill)) {
	to := newSpill()
	write(to)
	if err := to.finish(); err != nil {
		to.close()
		s.failed = true
		s.errs = appendError(s.errs, err)
		s.tally.lose(to.entries)
		return
	}
	if level == len(s.levels) {
		s.levels = append(s.levels, nil)
	}
	if s.levels[level] = append(s.levels[level], to); len(s.levels[level]) == fanIn {
		s.merge(level)
	}
}

// merge makes one temporary file of those of a level. The window is empty.
func (s *sorter) merge(level int) {
	reading := s.files
	s.files = nil
	s.openSpills(s.levels[level])
	s.levels[level] = nil
	s.keep(level+1, func(to *spill) {
		for {
			e, done := s.advance()
			if e == nil {
				return
			}
			to.add(e)
			if done != nil {
				s.recycle(done)
			}
		}
	})
	s.files, s.hungry = reading, nil
}

// spillWindow empties the window into a temporary file.
func (l *Log) spillWindow(to *spill) {
	for len(l.window.runs) > 0 {
		e, done := l.pop()
		to.add(e)
		if done != nil {
			l.recycle(done)
		}
	}
}

// openSpills begins to read temporary files, as files of the log.
func (l *Log) openSpills(spills []*spill) {
	l.hungry, l.window.among = nil, 0 // what was written told nobody its place
	for i, s := range spills {
		f := &file{source: &Source{Name: "temporary file"}, number: i, spilled: true, blocks: make(chan *block, 1)}
		l.files = append(l.files, f)
		l.work.Go(func() {
			defer close(f.blocks)
			defer s.close()
			l.readSpill(f, s)
		})
	}
	l.divide()
}

// readSpill passes on what a temporary file holds.
func (l *Log) readSpill(f *file, s *spill) {
	for number := uint64(0); ; number++ {
		b := l.blank()
		b.number = number
		if err := s.read(b); err != nil {
			if !errors.Is(err, io.EOF) || s.entries > 0 {
				f.err, f.lost = fmt.Errorf("accesslog: sort: %w", err), s.entries
			}
			return
		}
		s.entries -= int64(len(b.entries))
		b.parsed <- struct{}{}
		select {
		case f.blocks <- b:
		case <-l.stop:
			return
		}
	}
}
