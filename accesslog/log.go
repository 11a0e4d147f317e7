package accesslog

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultWindow is how many lines are held to be sorted, unless Options say otherwise.
const DefaultWindow = 1 << 16

// Options set up a Log.
type Options struct {
	Format   Format // nil means: found out for each file
	Settings Settings

	// Window is how many lines are held in memory to be sorted; 0 means DefaultWindow.
	// A line that comes even later than this is given out at once, with the time that
	// was reached, and counted as late. Files that are read at once share it, and where
	// lines are longer than 2 KiB on average fewer are held: memory is bounded.
	Window int

	// Sort reads all of the log before the first entry is given out, and puts it into
	// order through temporary files: none is late, however far out of order it stands.
	// Memory is bounded all the same.
	Sort bool

	// Strict ends the log with ErrLate at the first line that would be late, for those
	// who can begin again with Sort.
	Strict bool

	Zstd Decompressor // for files that are compressed so
}

// ErrLate is what Err tells of a strict log that is further out of order than its window.
var ErrLate = errors.New("accesslog: the log is further out of order than the lines that are held to be sorted")

// Log reads files, merged and in the order of time. It is read once.
type Log struct {
	sources []Source
	opts    Options

	read    atomic.Int64 // bytes
	counted atomic.Int64 // lines
	files   []*file      // that are open
	waiting []*file      // the others, by their first entry
	hungry  *file        // the only one of which something was given out since it was filled; nil: any
	window  window
	tally   tally
	last    int64
	errs    []error

	jobs    chan *block
	quit    <-chan struct{} // closed when the context ends: nobody reads on
	overdue chan struct{}   // closed a moment later: who still waits for input is left alone
	stop    chan struct{}   // closed at the end
	free    chan *block
	work    sync.WaitGroup
}

// patience is for how long a file may go on to wait for input after the context ended.
// One Ctrl-C ends also the program that writes a pipe, and what it wrote counts.
const patience = 200 * time.Millisecond

// New returns a log of these files.
func New(sources []Source, o Options) *Log {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	return &Log{sources: slices.Clone(sources), opts: o}
}

// Entries gives out all requests in the order of time, until the files end. When ctx
// does, nothing more is read, and what was read is given out. An entry and its texts are
// good until the next one: who keeps a text clones it. Call it once.
func (l *Log) Entries(ctx context.Context) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		l.begin(ctx)
		defer l.end()
		l.meet()
		if l.opts.Sort {
			l.sortAll()
		}
		for {
			e, done := l.next()
			if e == nil {
				break
			}
			if !yield(e) {
				return
			}
			if done != nil {
				l.recycle(done)
			}
		}
		if ctx.Err() != nil {
			l.errs = append(l.errs, ctx.Err())
		}
	}
}

// next returns the next entry, nil at the end, and its block if that was given out wholly.
func (l *Log) next() (e *Entry, done *block) {
	if e, done = l.advance(); e == nil {
		return nil, nil
	}
	if e.Time < l.last {
		if l.opts.Strict {
			l.errs = append(l.errs, ErrLate)
			return nil, nil
		}
		l.tally.late++
		l.tally.latest = max(l.tally.latest, l.last-e.Time)
		e.Time = l.last
	}
	l.last = e.Time
	return e, done
}

// advance takes the earliest entry out of the window, after that is full again.
func (l *Log) advance() (e *Entry, done *block) {
	for {
		if l.hungry == nil {
			l.fillAll()
		} else if !l.fill(l.hungry) {
			l.drop(slices.Index(l.files, l.hungry))
			l.fillAll()
		}
		if len(l.waiting) == 0 || !l.openDue() {
			break
		}
		l.hungry = nil
	}
	if len(l.window.runs) == 0 {
		return nil, nil
	}
	return l.pop()
}

// pop takes the earliest entry out of the window, which is not empty.
func (l *Log) pop() (e *Entry, done *block) {
	e, b, f, last := l.window.next()
	f.held--
	l.hungry = f
	if last {
		f.bytes -= b.weight()
		return e, b
	}
	return e, nil
}

// fillAll fills the parts of all files, and drops those that ended.
func (l *Log) fillAll() {
	for i := 0; i < len(l.files); {
		if l.fill(l.files[i]) {
			i++
		} else {
			l.drop(i)
			i = 0 // the others have more room now
		}
	}
}

// drop forgets a file that ended, and gives its part of the window to the others.
func (l *Log) drop(i int) {
	if i < 0 {
		return // it ended before, and what was left of it is given out
	}
	l.files = slices.Delete(l.files, i, i+1)
	l.divide()
}

// fill reads blocks of a file until its part of the window is full. It returns false at
// the end of the file.
func (l *Log) fill(f *file) bool {
	for f.held <= f.share && f.bytes <= f.share*lineWeight {
		if f.ended {
			return false
		}
		b, ok := l.receive(f)
		if !ok {
			f.ended = true
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
		f.bytes += b.weight()
		l.window.add(f, b)
	}
	return true
}

// receive waits for the next block of a file. It returns false at the end of the file.
func (l *Log) receive(f *file) (b *block, ok bool) {
	overdue := l.overdue
	if f.spilled {
		overdue = nil // nobody waits for input, and all of it is given out
	}
	select {
	case b, ok = <-f.blocks:
	case <-overdue:
		return nil, false
	}
	if !ok {
		l.errs = appendError(l.errs, f.err)
		l.tally.lose(f.lost)
	}
	return b, ok
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
		if s := &l.sources[i]; s.Size == 0 && !s.Again { // a regular file may be empty
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
func (l *Log) begin(ctx context.Context) {
	workers := runtime.GOMAXPROCS(0)
	l.quit, l.stop, l.overdue = ctx.Done(), make(chan struct{}), make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(patience, func() { close(l.overdue) }) })
	l.jobs = make(chan *block, workers)
	l.free = make(chan *block, 64)
	for range workers {
		l.work.Go(l.parse)
	}
}

// ended reports whether nobody wants more lines.
func (l *Log) ended() bool {
	select {
	case <-l.quit:
	case <-l.stop:
	default:
		return false
	}
	return true
}

// end stops everybody, and waits until they have, but for those who wait for input.
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
