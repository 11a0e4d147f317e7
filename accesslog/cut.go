package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unsafe"
)

// cutter reads a file and cuts it into blocks of whole lines.
type cutter struct {
	name   string
	in     io.Reader
	format Format // nil until it is found out
	known  Settings
	number uint64
	rest   []byte            // of a line that the last block did not hold wholly
	begun  bool              // something was read that is not blank
	emit   func(*block) bool // false if nobody wants more
	ended  func() bool       // reports the same
	blank  func() *block
}

// run cuts the file to its end.
func (c *cutter) run() error {
	for first := true; ; first = false {
		b := c.blank()
		buf, err := c.read(b, first)
		whole := len(buf)
		if err == nil {
			whole = bytes.LastIndexByte(buf, '\n') + 1
		}
		if whole == 0 && err == nil { // one line, and longer than any may be
			buf, whole = buf[:MaxLine+1], MaxLine+1
			err = c.skipLine()
		} else {
			c.rest = append(c.rest[:0], buf[whole:]...)
		}
		b.text = textOf(buf[:whole])
		if !c.take(b) {
			return nil
		}
		if err != nil {
			return c.ending(err)
		}
		if c.ended() {
			return nil
		}
	}
}

// read fills the buffer of a block: with the beginning of a line that the block before
// did not hold wholly, and what comes next.
func (c *cutter) read(b *block, first bool) ([]byte, error) {
	if size := max(blockSize, 2*len(c.rest)); cap(b.buffer) < size {
		b.buffer = make([]byte, size)
	}
	buf := b.buffer[:cap(b.buffer)]
	n := copy(buf, c.rest)
	read, err := fill(c.in, buf[n:])
	buf = buf[:n+read]
	if first {
		buf = bytes.TrimPrefix(buf, []byte("\xef\xbb\xbf"))
	}
	return buf, err
}

// fill reads until buf is full; unlike io.ReadFull it tells the end of a file from one
// that is cut off inside its compression.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for idle := 0; n < len(buf) && idle < 100; {
		read, err := r.Read(buf[n:])
		if n += read; err != nil {
			return n, err
		}
		if idle++; read > 0 {
			idle = 0
		}
	}
	if n < len(buf) {
		return n, io.ErrNoProgress
	}
	return n, nil
}

// textOf returns bytes as a text, which changes when they do.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// ending tells the regular end of a file from a failure.
func (c *cutter) ending(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("accesslog: read %s: %w; what came before is used", c.name, err)
}

// skipLine reads to the end of a line, and keeps what comes after it.
func (c *cutter) skipLine() error {
	chunk := make([]byte, 32<<10)
	for c.rest = c.rest[:0]; !c.ended(); {
		n, err := c.in.Read(chunk)
		if i := bytes.IndexByte(chunk[:n], '\n'); i >= 0 {
			c.rest = append(c.rest, chunk[i+1:n]...)
			return nil // an error comes again
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take passes on a block, cut where its format changes.
func (c *cutter) take(b *block) bool {
	text := b.text
	if !c.begun && strings.TrimSpace(text) == "" {
		return c.pass(b, text, headerLine{}) // blank lines tell nothing of the format
	}
	first := !c.begun
	c.begun = true
	if c.format == nil {
		if c.format = Detect(text, c.known); c.format == nil {
			c.format = unknown{}
		}
	}
	for from := 0; ; first = false {
		h, ok := c.format.(headed)
		if !ok {
			return c.pass(b, text, c.format)
		}
		line, start := directiveAt(text, from, first)
		if start < 0 {
			return c.pass(b, text, c.format)
		}
		from = start + len(line)
		f, ok := h.directive(strings.TrimRight(line, "\r\n"), first)
		if !ok {
			continue
		}
		b.buffer = nil // several blocks share it: it goes to the garbage after the last
		if !c.pass(c.blank(), text[:start], c.format) || !c.pass(c.blank(), line, headerLine{}) {
			return false
		}
		c.format, text, from = f, text[from:], 0
	}
}

// directiveAt finds the next line that begins with #, or the first of a file that is not
// empty.
func directiveAt(text string, from int, first bool) (line string, start int) {
	if first {
		start = len(text) - len(strings.TrimLeft(text, "\r\n"))
	} else if !(from == 0 && strings.HasPrefix(text, "#")) {
		// A line before from was looked at already: its end is the byte before.
		search := max(from-1, 0)
		i := strings.Index(text[search:], "\n#")
		if i < 0 {
			return "", -1
		}
		start = search + i + 1
	}
	end := strings.IndexByte(text[start:], '\n')
	if end < 0 {
		return text[start:], start
	}
	return text[start : start+end+1], start
}

// pass passes on text as a block of one format.
func (c *cutter) pass(b *block, text string, f Format) bool {
	if text == "" {
		return true
	}
	b.text, b.format, b.number = text, f, c.number
	c.number++
	return c.emit(b)
}

// headerLine is the format of the lines that say what stands in the others.
type headerLine struct{}

func (headerLine) Name() string                { return "header" }
func (headerLine) Parser() Parser              { return headerLine{} }
func (headerLine) Parse(string, *Entry) Reason { return Directive }

// unknown is the format of a file that has none of ours.
type unknown struct{}

func (unknown) Name() string                { return "unknown" }
func (unknown) Parser() Parser              { return unknown{} }
func (unknown) Parse(string, *Entry) Reason { return Shape }
