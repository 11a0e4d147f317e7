package gateway

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// Frames of HTTP/2 (RFC 9113) that are made by hand, so that they can be wrong.
const (
	frameHeaders      = 1
	frameReset        = 3
	frameSettings     = 4
	frameGoAway       = 7
	frameContinuation = 9

	endStream  = 1
	endHeaders = 4
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// field is a header field as it stands in a frame: neither indexed nor compressed.
func field(name, value string) []byte {
	text := func(b []byte, s string) []byte {
		if len(s) < 127 {
			return append(append(b, byte(len(s))), s...)
		}
		b = append(b, 127)
		n := len(s) - 127
		for ; n >= 128; n >>= 7 {
			b = append(b, byte(n)|0x80)
		}
		return append(append(b, byte(n)), s...)
	}
	return text(text([]byte{0}, name), value)
}

// head is the header of a request, with more fields.
func head(method, path, authority string, more ...string) (block []byte) {
	for _, f := range [][2]string{{":method", method}, {":scheme", "http"}, {":path", path}, {":authority", authority}} {
		block = append(block, field(f[0], f[1])...)
	}
	for i := 0; i < len(more); i += 2 {
		block = append(block, field(more[i], more[i+1])...)
	}
	return block
}

func reset(stream uint32) []byte { return frame(frameReset, 0, stream, []byte{0, 0, 0, 8}) }

// http2 opens a connection and sends frames, and returns it.
func (p *running) http2(frames ...[]byte) net.Conn {
	p.t.Helper()
	c, err := net.Dial("tcp", p.gateway)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(15 * time.Second))
	all := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(frameSettings, 0, 0, nil)...)
	for _, f := range frames {
		all = append(all, f...)
	}
	_, _ = c.Write(all) // it may be cut
	return c
}

// ended reads until the answer to a stream, a reset or the end of the connection has
// come, and tells which.
func ended(t *testing.T, c net.Conn, stream uint32) string {
	t.Helper()
	defer c.Close()
	for {
		var h [9]byte
		if _, err := io.ReadFull(c, h[:]); err != nil {
			return "end"
		}
		payload := make([]byte, int(h[0])<<16|int(h[1])<<8|int(h[2]))
		if _, err := io.ReadFull(c, payload); err != nil {
			return "end"
		}
		of := binary.BigEndian.Uint32(h[5:])
		switch {
		case h[3] == frameHeaders && of == stream:
			return "answer"
		case h[3] == frameReset && of == stream:
			return "reset"
		case h[3] == frameGoAway:
			return "end"
		}
	}
}
