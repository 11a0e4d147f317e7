package gateway

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// accessLog writes a line of JSON for every request, as "sluice replay" reads it.
type accessLog struct {
	path   string
	logger *slog.Logger
	done   chan struct{}
	over   sync.WaitGroup

	mu   sync.Mutex // guards all below
	file io.WriteCloser
	to   *bufio.Writer
	bad  bool // the last write failed
}

// flushEvery is how long a line may wait for others.
const flushEvery = 500 * time.Millisecond

// openLog opens a file, or the standard output for "stdout". An empty path means that
// there is no log.
func openLog(path string, logger *slog.Logger) (*accessLog, error) {
	if path == "" {
		return nil, nil
	}
	l := &accessLog{path: path, logger: logger, done: make(chan struct{})}
	var err error
	if l.file, err = openFile(path); err != nil {
		return nil, fmt.Errorf("gateway.access_log: %w", err)
	}
	l.to = bufio.NewWriterSize(l.file, 64<<10)
	l.over.Go(l.flushing)
	return l, nil
}

func openFile(path string) (io.WriteCloser, error) {
	if path == "stdout" {
		return standard{os.Stdout}, nil
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
}

// standard is the standard output, which stays open.
type standard struct{ io.Writer }

func (standard) Close() error { return nil }

// flushing writes what has waited long enough.
func (l *accessLog) flushing() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.done:
			return
		case <-tick.C:
			l.mu.Lock()
			l.check(l.to.Flush())
			l.mu.Unlock()
		}
	}
}

// check tells once that lines are lost, until they are not any more. The caller holds mu.
func (l *accessLog) check(err error) {
	if err != nil && !l.bad {
		l.logger.Error("lines of the access log are lost", "file", l.path, "error", err)
	}
	l.bad = err != nil
	if l.bad {
		l.to.Reset(l.file) // a writer that has failed once fails for ever
	}
}

// reopen opens the file again, for one that was renamed.
func (l *accessLog) reopen() {
	if l == nil {
		return
	}
	file, err := openFile(l.path)
	if err != nil {
		l.logger.Error("the access log could not be opened again, the old one stays", "file", l.path, "error", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check(l.to.Flush())
	_ = l.file.Close()
	l.file = file
	l.to.Reset(file)
}

func (l *accessLog) close() {
	if l == nil {
		return
	}
	close(l.done)
	l.over.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check(l.to.Flush())
	_ = l.file.Close()
}

// lines are where they are put together.
var lines = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// write adds the line of an exchange.
func (l *accessLog) write(x *exchange, took time.Duration) {
	line := lines.Get().(*[]byte)
	*line = x.appendLine((*line)[:0], took)
	l.mu.Lock()
	_, err := l.to.Write(*line)
	if err != nil {
		l.check(err)
	}
	l.mu.Unlock()
	lines.Put(line)
}

// longest is how much of a text that a client chooses gets into the log.
const longest = 4 << 10

func (x *exchange) appendLine(b []byte, took time.Duration) []byte {
	b = append(b, `{"time":"`...)
	b = x.began.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z07:00")
	b = append(b, '"')
	b = appendText(b, "method", x.method)
	b = appendText(b, "host", x.host)
	b = appendText(b, "path", x.path)
	b = appendText(b, "query", x.query)
	b = append(b, `,"ip":"`...)
	b = x.client.AppendTo(b)
	b = append(b, '"')
	b = appendText(b, "user", x.user)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(x.status), 10)
	b = appendText(b, "agent", x.agent)
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, x.sent, 10)
	b = append(b, `,"received":`...)
	b = strconv.AppendInt(b, x.received.Load(), 10)
	b = append(b, `,"duration":`...)
	b = strconv.AppendFloat(b, took.Seconds(), 'f', 6, 64)
	if x.rule != nil {
		b = appendText(b, "rule", x.rule.Name)
	}
	b = appendText(b, "outcome", x.outcome())
	b = appendText(b, "upstream", x.upstream)
	b = appendText(b, "failure", x.failure)
	return append(b, '}', '\n')
}

// outcome is what the rules said, in a word.
func (x *exchange) outcome() string {
	switch {
	case !x.decided && x.upstream == "":
		return "undecided"
	case !x.decided:
		return "free"
	case !x.allowed:
		return "denied"
	case x.shadow:
		return "shadow"
	}
	return "allowed"
}

// appendText adds a field, if it has a value. Whatever could end the line or change how
// a terminal shows it is written as an escape.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':', '"')
	if len(text) > longest {
		text = text[:longest]
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f {
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if c < 0x80 || r == utf8.RuneError && size == 1 || r < 0xa0 || r == '\u2028' || r == '\u2029' {
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
			i++
			continue
		}
		b = append(b, text[i:i+size]...)
		i += size
	}
	return append(b, '"')
}

const hex = "0123456789abcdef"
