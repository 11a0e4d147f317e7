package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"time"
)

const stamp = "02/Jan/2006:15:04:05 -0700"

// Repeat writes a real log (combined, by gzip) to path until it has at least lines
// lines: each copy so many days later than the one before that they do not overlap. It
// returns how many it wrote.
func Repeat(from, path string, lines, days int) (int, error) {
	log, err := readGzip(from)
	if err != nil {
		return 0, err
	}
	written := 0
	return written, writeTo(path, func(w *bufio.Writer) error {
		for copied := 0; written < lines; copied++ {
			for line := range bytes.Lines(log) {
				if err := shift(w, line, time.Duration(copied*days)*24*time.Hour); err != nil {
					return err
				}
				if written++; written == lines {
					return nil
				}
			}
		}
		return nil
	})
}

func readGzip(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// shift writes a line with its time moved.
func shift(w *bufio.Writer, line []byte, by time.Duration) error {
	open, shut := bytes.IndexByte(line, '['), bytes.IndexByte(line, ']')
	if open < 0 || shut < open {
		return fmt.Errorf("no time in %q", line)
	}
	at, err := time.Parse(stamp, string(line[open+1:shut]))
	if err != nil {
		return err
	}
	_, _ = w.Write(line[:open+1])
	_, _ = w.Write(at.Add(by).AppendFormat(w.AvailableBuffer(), stamp))
	_, err = w.Write(line[shut:])
	return err
}

// ManyKeys writes a log in which each of so many addresses comes twice, a thousand
// requests in a second.
func ManyKeys(path string, keys int) (int, error) {
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	return 2 * keys, writeTo(path, func(w *bufio.Writer) error {
		for i := range 2 * keys {
			n := uint32(i%keys) * 2_654_435_761 // spread over all addresses, none twice
			at := start.Add(time.Duration(i/1000) * time.Second)
			_, err := fmt.Fprintf(w, "%d.%d.%d.%d - - [%s] \"GET /item/%d HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"\n",
				byte(n>>24), byte(n>>16), byte(n>>8), byte(n), at.Format(stamp), i%100)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func writeTo(path string, write func(*bufio.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	if err := write(w); err != nil {
		_ = file.Close() // what went wrong before counts
		return err
	}
	if err := w.Flush(); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
