package accesslog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"
)

// pieceSize is how many bytes of entries are written to a temporary file and read from it
// at once.
const pieceSize = 32 << 10

// spill is a temporary file with entries in the order of time, in pieces: each the number
// of its bytes and then the entries.
type spill struct {
	file    *os.File
	piece   []byte // that is being filled
	entries int64  // that were written, less those that were read
	err     error  // the first that writing met
}

// newSpill makes an empty one. Its name is gone at once where the system allows that, so
// that nothing is left behind by a process that is killed. One that cannot be made tells so
// when it is finished.
func newSpill() *spill {
	s := &spill{piece: make([]byte, 4, pieceSize+pieceSize/4)}
	if s.file, s.err = os.CreateTemp("", "sluice-sort-*"); s.err == nil {
		_ = os.Remove(s.file.Name()) // close tries again
	}
	return s
}

// add writes an entry down, after the others.
func (s *spill) add(e *Entry) {
	s.entries++
	s.piece = appendEntry(s.piece, e)
	if len(s.piece) >= pieceSize {
		s.flush()
	}
}

// flush writes the piece.
func (s *spill) flush() {
	if len(s.piece) > 4 && s.err == nil {
		binary.LittleEndian.PutUint32(s.piece, uint32(len(s.piece)-4))
		_, s.err = s.file.Write(s.piece)
	}
	s.piece = s.piece[:4]
}

// finish ends writing, so that read can begin.
func (s *spill) finish() error {
	s.flush()
	s.piece = nil
	if s.err == nil {
		_, s.err = s.file.Seek(0, io.SeekStart)
	}
	if s.err != nil {
		return fmt.Errorf("accesslog: sort: %w: set TMPDIR to a folder with as much room as the log takes when it is unpacked", s.err)
	}
	return nil
}

func (s *spill) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close() // nothing in it is needed any more
	_ = os.Remove(s.file.Name())
}

// read reads the next piece into a block, as if it had been parsed.
func (s *spill) read(b *block) error {
	var head [4]byte
	if _, err := io.ReadFull(s.file, head[:]); err != nil {
		return err // io.EOF at the end
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	if cap(b.buffer) < size {
		b.buffer = make([]byte, max(size, pieceSize))
	}
	text := b.buffer[:size]
	if _, err := io.ReadFull(s.file, text); err != nil {
		return err
	}
	b.entries, b.order, b.rejected, b.lines = b.entries[:0], b.order[:0], b.rejected[:0], 0
	b.text, b.format = textOf(text), headerLine{}
	for d := (entryReader{rest: b.text}); d.rest != ""; {
		e := b.next()
		if d.entry(e); d.bad {
			return errors.New("the temporary file is damaged")
		}
		e.serial = b.number<<32 | uint64(len(b.entries))
	}
	return nil
}

// appendEntry appends all that an entry tells.
func appendEntry(to []byte, e *Entry) []byte {
	to = binary.AppendVarint(to, e.Time)
	coarse := int64(0)
	if e.Coarse {
		coarse = 1
	}
	to = binary.AppendVarint(to, coarse)
	for _, text := range [...]string{e.Method, e.Host, e.Path, e.Query, e.User, e.Agent, e.Key} {
		to = appendText(to, text)
	}
	var place [16]byte
	ip, _ := e.IP.AppendBinary(place[:0]) // it never fails
	to = appendText(to, textOf(ip))
	for _, n := range [...]int64{int64(e.Status), e.Bytes, e.Length, e.Cost, int64(e.Duration), int64(len(e.More))} {
		to = binary.AppendVarint(to, n)
	}
	for i := range e.More {
		to = appendText(appendText(to, e.More[i].Name), e.More[i].Value)
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// entryReader reads what appendEntry wrote. Texts of entries are parts of what it reads.
type entryReader struct {
	rest string
	bad  bool
}

func (d *entryReader) entry(e *Entry) {
	e.reset()
	e.Time = d.number()
	e.Coarse = d.number() != 0
	for _, text := range [...]*string{&e.Method, &e.Host, &e.Path, &e.Query, &e.User, &e.Agent, &e.Key} {
		*text = d.text()
	}
	var ip netip.Addr
	if text := d.text(); text != "" && ip.UnmarshalBinary([]byte(text)) != nil {
		d.bad = true
	}
	e.IP, e.Status = ip, int(d.number())
	e.Bytes, e.Length, e.Cost, e.Duration = d.number(), d.number(), d.number(), time.Duration(d.number())
	for more := d.number(); more > 0 && !d.bad; more-- {
		e.More = append(e.More, Field{d.text(), d.text()})
	}
}

func (d *entryReader) number() int64 {
	n := d.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *entryReader) unsigned() (n uint64) {
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		c := d.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.bad, d.rest = true, ""
	return 0
}

func (d *entryReader) text() string {
	n := d.unsigned()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, ""
		return ""
	}
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}
