package accesslog

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// DefaultWindow is how many lines are held to be sorted, unless Options say otherwise.
const DefaultWindow = 1 << 16

// Options set up a Log.
type Options struct {
	Format   Format // nil means: found out for each file
	Settings Settings

	// Window is how many lines are held in memory to be sorted; 0 means DefaultWindow.
	// A line that comes even later than this is given out at once, with the time that
	// was reached, and counted as late.
	Window int

	Zstd Decompressor // for files that are compressed so
}

// Log reads files, merged and in the order of time. It is read once.
type Log struct {
	sources []Source
	opts    Options

	read    atomic.Int64 // bytes
	counted atomic.Int64 // lines
	files   []*file      // that are open
	waiting []*file      // the others, by their first entry
	window  window
	tally   tally
	last    int64
	errs    []error

	jobs chan *block
	stop chan struct{}
	free chan *block
	work sync.WaitGroup
}

// New returns a log of these files.
func New(sources []Source, o Options) *Log {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	return &Log{sources: slices.Clone(sources), opts: o}
}

// Entries gives out all requests in the order of time, until the files or ctx end.
// An entry and its texts are good until the next one: who keeps a text clones it. Call
// it once.
func (l *Log) Entries(ctx context.Context) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		l.begin()
		defer l.end()
		l.meet()
		for n := 0; ; n++ {
			if n&1023 == 0 && ctx.Err() != nil {
				l.errs = append(l.errs, ctx.Err())
				return
			}
			e, from, done, ok := l.next()
			if !ok || !yield(e) {
				return
			}
			if done {
				l.recycle(from.block)
			}
		}
	}
}

// next returns the next entry; done tells that its block was given out wholly.
func (l *Log) next() (e *Entry, from run, done, ok bool) {
	for {
		for i := 0; i < len(l.files); {
			if l.fill(l.files[i]) {
				i++
			} else {
				l.files = slices.Delete(l.files, i, i+1)
			}
		}
		if !l.openDue() {
			break
		}
	}
	if len(l.window.runs) == 0 {
		return nil, run{}, false, false
	}
	e, from, done = l.window.next()
	from.file.held--
	if e.Time < l.last {
		l.tally.late++
		l.tally.latest = max(l.tally.latest, l.last-e.Time)
		e.Time = l.last
	}
	l.last = e.Time
	return e, from, done, true
}

// fill reads blocks of a file until its part of the window is full. It returns false at
// the end of the file.
func (l *Log) fill(f *file) bool {
	for f.held <= f.share {
		b, ok := <-f.blocks
		if !ok {
			l.errs = appendError(l.errs, f.err)
			return false
		}
		<-b.parsed
		l.tally.add(b, f.name())
		l.counted.Add(b.lines)
		if len(b.entries) == 0 {
			l.recycle(b)
			continue
		}
		f.held += len(b.entries)
		l.window.add(f, b)
	}
	return true
}

// Err returns what went wrong, after Entries: files that cannot be read, or the error
// of the context. What could be read was given out all the same.
func (l *Log) Err() error { return errors.Join(l.errs...) }

// Lines tells what became of the lines, so far.
func (l *Log) Lines() Lines { return l.tally.lines() }

// Progress tells how far the log was read. It may be called at any time.
func (l *Log) Progress() Progress {
	p := Progress{Lines: l.counted.Load(), Bytes: l.read.Load()}
	for i := range l.sources {
		if l.sources[i].Size == 0 {
			p.Size = 0
			break
		}
		p.Size += l.sources[i].Size
	}
	return p
}

// Progress is how far a log was read.
type Progress struct {
	Lines int64
	Bytes int64 // of the files as they lie there
	Size  int64 // of all of them; 0 if it is not known
}

// maxErrors are kept; a folder of unreadable files need not be told one by one.
const maxErrors = 20

func appendError(errs []error, err error) []error {
	if err == nil || len(errs) >= maxErrors {
		return errs
	}
	return append(errs, err)
}

// begin starts those who parse.
func (l *Log) begin() {
	workers := runtime.GOMAXPROCS(0)
	l.stop = make(chan struct{})
	l.jobs = make(chan *block, workers)
	l.free = make(chan *block, 64)
	for range workers {
		l.work.Go(l.parse)
	}
}

// end stops everybody, and waits until they have.
func (l *Log) end() {
	close(l.stop)
	l.work.Wait()
}

// parse reads the lines of blocks.
func (l *Log) parse() {
	parsers := map[Format]Parser{}
	for {
		select {
		case <-l.stop:
			return
		case b := <-l.jobs:
			p := parsers[b.format]
			if p == nil {
				if len(parsers) > 64 { // files whose columns change all the time
					clear(parsers)
				}
				p = b.format.Parser()
				parsers[b.format] = p
			}
			b.parse(p)
			b.parsed <- struct{}{}
		}
	}
}

func (l *Log) blank() *block {
	select {
	case b := <-l.free:
		return b
	default:
		return &block{parsed: make(chan struct{}, 1)}
	}
}

// recycle takes a block back, whose memory is used again.
func (l *Log) recycle(b *block) {
	b.text = ""
	select {
	case l.free <- b:
	default:
	}
}
