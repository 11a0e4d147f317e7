package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// Source is a file of a log.
type Source struct {
	Name string
	Size int64 // in bytes as it lies there; 0 if it is not known

	// Open begins to read it. It is called once, or twice if Again says that it may be.
	Open  func() (io.ReadCloser, error)
	Again bool
}

// File is the source that reads a file by its name.
func File(name string) Source {
	s := Source{Name: name, Again: true, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	if info, err := os.Stat(name); err == nil {
		s.Size, s.Again = info.Size(), info.Mode().IsRegular()
	}
	return s
}

// Stream is the source that reads r, such as the standard input. A read that is under way
// when the log is left goes on until it returns: nobody can end it.
func Stream(name string, r io.Reader) Source {
	return Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// Decompressor undoes a compression that the standard library does not know.
type Decompressor func(io.Reader) (io.ReadCloser, error)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// input reads a source, unpacked.
type input struct {
	io.Reader
	closers []io.Closer
}

// open begins to read a source. What is read of it is counted in read.
func (s *Source) open(zstd Decompressor, read *atomic.Int64) (*input, error) {
	raw, err := s.Open()
	if err != nil {
		return nil, fmt.Errorf("accesslog: open %s: %w", s.Name, err)
	}
	in := &input{closers: []io.Closer{raw}}
	buffered := bufio.NewReaderSize(&meter{raw, read}, 64<<10)
	in.Reader = buffered
	head, _ := buffered.Peek(4) // a file may be shorter
	var unpacked io.ReadCloser
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		unpacked, err = gzip.NewReader(buffered)
	case !bytes.HasPrefix(head, zstdMagic):
		return in, nil
	case zstd != nil:
		unpacked, err = zstd(buffered)
	default:
		err = errors.New("it is compressed by zstd, which is not unpacked here: give Options.Zstd, or unpack it before")
	}
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("accesslog: open %s: %w", s.Name, err)
	}
	in.Reader = unpacked
	in.closers = append(in.closers, unpacked)
	return in, nil
}

// Close ends reading.
func (in *input) Close() {
	for i := len(in.closers) - 1; i >= 0; i-- {
		_ = in.closers[i].Close() // nothing was written
	}
}

// meter counts what is read.
type meter struct {
	io.Reader
	read *atomic.Int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.read.Add(int64(n))
	return n, err
}
