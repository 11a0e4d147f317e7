package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
)

// bodies bounds the memory of bodies that are read at the same time: there may be as
// many as there are connections, and each may come slowly.
type bodies struct {
	limit int64
	taken atomic.Int64
}

// Bodies up to freeBody are not counted: nearly all are, and the connection itself
// takes more. The rest of all bodies together gets bodyMemory, and at least two of the
// largest fit.
const (
	freeBody   = 4 << 10
	bodyMemory = 128 << 20
)

// grow asks for memory for a body of size bytes, of which x has asked for some before.
func (b *bodies) grow(x *exchange, size int) bool {
	more := int64(size) - freeBody - x.counted
	if more <= 0 {
		return true
	}
	if b.taken.Add(more) > b.limit {
		b.taken.Add(-more)
		return false
	}
	x.counted += more
	return true
}

// release gives back what x asked for.
func (b *bodies) release(x *exchange) {
	if x.counted > 0 {
		b.taken.Add(-x.counted)
		x.counted = 0
	}
}

// read takes in the whole body, if it is of one of these types, and then a place in
// flight: who sends slowly keeps nobody from being answered. The place and the memory
// are given back by end.
func (h *handler) read(x *exchange, r *http.Request, types ...string) *Problem {
	if p := checkType(r.Header, types); p != nil {
		return p
	}
	if p := h.readBody(x, r); p != nil {
		return p
	}
	if !h.options.Places.Enter() {
		return overloaded()
	}
	x.placed = true
	return nil
}

func (h *handler) readBody(x *exchange, r *http.Request) *Problem {
	x.body = x.body[:0]
	switch {
	case r.ContentLength > h.options.MaxBody:
		return tooLarge(h.options.MaxBody)
	case r.ContentLength >= 0:
		return h.readExactly(x, r.Body, int(r.ContentLength))
	}
	return h.readToEnd(x, r.Body)
}

// step is how much memory a body gets before its next bytes have come. Who announces a
// large body and sends none must not have all of it.
const step = 64 << 10

func (h *handler) readExactly(x *exchange, body io.Reader, size int) *Problem {
	for len(x.body) < size {
		from, to := len(x.body), min(size, len(x.body)+step)
		if !h.bodies.grow(x, to) {
			return h.options.Places.refuse()
		}
		x.body = slices.Grow(x.body, to-from)[:to]
		if _, err := io.ReadFull(body, x.body[from:]); err != nil {
			return broken(err)
		}
	}
	return nil
}

// readToEnd reads a body of unknown size.
func (h *handler) readToEnd(x *exchange, body io.Reader) *Problem {
	most := h.options.MaxBody
	for int64(len(x.body)) <= most {
		if !h.bodies.grow(x, len(x.body)+freeBody) {
			return h.options.Places.refuse()
		}
		x.body = slices.Grow(x.body, freeBody)
		n, err := body.Read(x.body[len(x.body) : len(x.body)+freeBody])
		x.body = x.body[:len(x.body)+n]
		if err == io.EOF && int64(len(x.body)) <= most {
			return nil
		}
		if err != nil && err != io.EOF {
			return broken(err)
		}
	}
	return tooLarge(most)
}

// broken says that the body ended early. Who sent it is mostly gone.
func broken(err error) *Problem {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return invalidBody("the body ends before its length", "send as many bytes as Content-Length says")
	}
	return problem(http.StatusRequestTimeout, "incomplete-body", "the body could not be read: "+err.Error(),
		"send the whole body without long pauses")
}

func tooLarge(most int64) *Problem {
	return problem(http.StatusRequestEntityTooLarge, "too-large",
		fmt.Sprintf("the body is larger than %d bytes", most), "send it in several requests")
}
