package gateway

import (
	"bufio"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// accept is the proof that a server speaks WebSocket (RFC 6455).
func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// readFrame reads a message of one frame.
func readFrame(r io.Reader) (op byte, text []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := int64(head[1] & 0x7f)
	switch size {
	case 126:
		var two [2]byte
		_, err = io.ReadFull(r, two[:])
		size = int64(binary.BigEndian.Uint16(two[:]))
	case 127:
		var eight [8]byte
		_, err = io.ReadFull(r, eight[:])
		size = int64(binary.BigEndian.Uint64(eight[:]))
	}
	var mask [4]byte
	if err == nil && head[1]&0x80 != 0 {
		_, err = io.ReadFull(r, mask[:])
	}
	if err != nil {
		return 0, nil, err
	}
	text = make([]byte, size)
	_, err = io.ReadFull(r, text)
	for i := range text {
		text[i] ^= mask[i%4]
	}
	return head[0] & 0xf, text, err
}

// writeFrame writes a message as one frame; a client has to mask it.
func writeFrame(w io.Writer, op byte, text []byte, masked bool) error {
	frame := []byte{0x80 | op}
	bit := byte(0)
	if masked {
		bit = 0x80
	}
	switch {
	case len(text) < 126:
		frame = append(frame, bit|byte(len(text)))
	case len(text) < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, bit|126), uint16(len(text)))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, bit|127), uint64(len(text)))
	}
	var mask [4]byte
	if masked {
		_, _ = rand.Read(mask[:])
		frame = append(frame, mask[:]...)
	}
	for i, c := range text {
		frame = append(frame, c^mask[i%4])
	}
	_, err := w.Write(frame)
	return err
}

const (
	opText  = 1
	opClose = 8
)

// echo is a WebSocket server that sends everything back.
func echo(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" {
			w.WriteHeader(http.StatusUpgradeRequired)
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", accept(r.Header.Get("Sec-WebSocket-Key")))
		for {
			op, text, err := readFrame(rw)
			if err != nil || writeFrame(c, op, text, false) != nil || op == opClose {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestWebSocket: messages of all sizes come back, one connection is one request to the
// rules, and an orderly end is one.
func TestWebSocket(t *testing.T) {
	g := start(t, section(echo(t).URL)+"\nrules: [{name: sockets, key: [ip], limits: [2/h]}]\n")
	for i := range 3 {
		c, err := net.Dial("tcp", g.gateway)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		const key = "dGhlIHNhbXBsZSBub25jZQ=="
		fmt.Fprintf(c, "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", key)
		reader := bufio.NewReader(c)
		res, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			if res.StatusCode != http.StatusTooManyRequests {
				t.Errorf("the third: %s", res.Status)
			}
			break
		}
		if res.StatusCode != 101 || res.Header.Get("Sec-WebSocket-Accept") != accept(key) {
			t.Fatalf("%s %v", res.Status, res.Header)
		}
		for _, size := range []int{0, 1, 125, 126, 65535, 65536, 1 << 20} {
			sent := make([]byte, size)
			_, _ = rand.Read(sent)
			done := make(chan error, 1)
			go func() { done <- writeFrame(c, opText, sent, true) }()
			op, text, err := readFrame(reader)
			if err != nil || op != opText || string(text) != string(sent) {
				t.Fatalf("%d bytes: op %d, %d bytes, %v", size, op, len(text), err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		_ = writeFrame(c, opClose, nil, true)
		if op, _, err := readFrame(reader); err != nil || op != opClose {
			t.Errorf("end: op %d %v", op, err)
		}
		if _, err := reader.ReadByte(); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
	}
}
