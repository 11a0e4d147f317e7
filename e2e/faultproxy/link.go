package faultproxy

import (
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pieceSize is the most that is read at once.
const pieceSize = 16 << 10

// link is one connection through the proxy.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	gone           chan struct{} // closed when the link is cut
	once           sync.Once
	counted        atomic.Pointer[meter]
}

// meter counts the bytes that a link carried under one setting.
type meter struct {
	of    *setting
	bytes atomic.Int64
}

// piece is some bytes on their way.
type piece struct {
	bytes []byte
	due   time.Time
}

// cut ends the link; both sides see a reset.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.gone)
		reset(l.client)
		reset(l.server)
	})
}

// flow is one direction of a link.
type flow struct {
	*link
	to      net.Conn
	answers bool // from the server
	dead    bool // it has lost bytes, and never carries any again: TCP does not leave out the middle
	queue   chan piece
}

// carry moves bytes in one direction. Pieces wait for their time in a queue, so
// that latency delays and does not throttle.
func (l *link) carry(from, to net.Conn, answers bool) {
	w := &flow{link: l, to: to, answers: answers, queue: make(chan piece, 1024)}
	var writer sync.WaitGroup
	writer.Go(w.deliver)
	buffer := make([]byte, pieceSize)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			w.send(append([]byte(nil), buffer[:n]...))
		}
		if err != nil {
			break
		}
	}
	close(w.queue)
	writer.Wait()
	l.cut()
}

// loses tells whether bytes are lost, and does what the faults say about it.
func (w *flow) loses(f *setting) bool {
	switch {
	case w.dead || f.Silent:
		return true
	case !w.answers || f.Answers == Forward:
		return false
	case f.Answers == SwallowOneAndCut && !w.proxy.faults.CompareAndSwap(f, &setting{}):
		return false // another connection has lost one
	}
	w.proxy.lost.Add(1)
	if f.Answers == SwallowOneAndCut {
		w.cut()
	}
	return true
}

// send puts bytes into the queue, or does to them what the faults say.
func (w *flow) send(b []byte) {
	f := w.proxy.faults.Load()
	if w.dead = w.loses(f); w.dead {
		return
	}
	due := time.Now().Add(f.Latency)
	if f.Jitter > 0 {
		due = due.Add(rand.N(f.Jitter))
	}
	if f.CutAfter > 0 {
		if left := f.CutAfter - w.count(f, len(b)) + int64(len(b)); left <= int64(len(b)) {
			w.queue <- piece{b[:max(0, left)], due}
			w.queue <- piece{nil, due} // the end
			return
		}
	}
	w.queue <- piece{b, due}
}

// count adds n to the bytes of this setting and returns their sum.
func (l *link) count(f *setting, n int) int64 {
	for {
		m := l.counted.Load()
		if m != nil && m.of == f {
			return m.bytes.Add(int64(n))
		}
		l.counted.CompareAndSwap(m, &meter{of: f})
	}
}

// deliver writes pieces when their time has come. An empty one cuts the link.
func (w *flow) deliver() {
	for p := range w.queue {
		if !w.pause(time.Until(p.due)) {
			continue // cut: let the reader go on until it notices
		}
		if p.bytes == nil {
			w.cut()
			continue
		}
		f := w.proxy.faults.Load()
		for step := stepOf(f, len(p.bytes)); len(p.bytes) > 0; p.bytes = p.bytes[min(step, len(p.bytes)):] {
			part := p.bytes[:min(step, len(p.bytes))]
			if f.Rate > 0 && !w.pause(time.Duration(len(part))*time.Second/time.Duration(f.Rate)) {
				break
			}
			if _, err := w.to.Write(part); err != nil {
				break
			}
		}
	}
}

// stepOf is how many bytes are written at once.
func stepOf(f *setting, n int) int {
	switch {
	case f.Slice:
		return 1
	case f.Rate > 0:
		return max(1, f.Rate/100)
	}
	return n
}

// pause waits, and reports whether the link is still there.
func (l *link) pause(d time.Duration) bool {
	if d <= 0 {
		select {
		case <-l.gone:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.gone:
		return false
	case <-timer.C:
		return true
	}
}
