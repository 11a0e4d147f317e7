package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// exchange is all the memory that a request and its answer need. It is used again.
type exchange struct {
	body   []byte
	out    []byte
	parsed parsed
}

// mostKept is how large the buffers of an exchange may be for it to be used again, and
// manyItems how many requests it may have held.
const (
	mostKept  = 256 << 10
	manyItems = 256
)

func (h *handler) begin() *exchange { return h.exchanges.Get().(*exchange) }

// end gives x back, without references to the texts of the request.
func (h *handler) end(x *exchange) {
	if cap(x.body) > mostKept || cap(x.out) > mostKept || cap(x.parsed.items) > manyItems {
		return
	}
	x.parsed.clear()
	h.exchanges.Put(x)
}

// read takes in the whole body, if it is of one of these types.
func (x *exchange) read(r *http.Request, most int64, types ...string) *Problem {
	if p := checkType(r.Header, types); p != nil {
		return p
	}
	if r.ContentLength > most {
		return tooLarge(most)
	}
	x.body = x.body[:0]
	if r.ContentLength >= 0 {
		return x.readExactly(r.Body, int(r.ContentLength))
	}
	for int64(len(x.body)) <= most {
		x.body = slices.Grow(x.body, 4096)
		n, err := r.Body.Read(x.body[len(x.body):cap(x.body)])
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

// step is how much memory a body gets before its next bytes have come. Who announces a
// large body and sends none must not have all of it.
const step = 64 << 10

func (x *exchange) readExactly(body io.Reader, size int) *Problem {
	for len(x.body) < size {
		from, to := len(x.body), min(size, len(x.body)+step)
		x.body = slices.Grow(x.body, to-from)[:to]
		if _, err := io.ReadFull(body, x.body[from:]); err != nil {
			return broken(err)
		}
	}
	return nil
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

// checkType compares the Content-Type with the types that are taken; the first is the
// one to recommend.
func checkType(header http.Header, types []string) *Problem {
	if encoding := first(header["Content-Encoding"]); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return problem(http.StatusUnsupportedMediaType, "unsupported-media-type",
			fmt.Sprintf("Content-Encoding %.100q is not understood", encoding), "send the body as it is")
	}
	given := first(header["Content-Type"])
	if given == types[0] {
		return nil
	}
	kind, params, err := mime.ParseMediaType(given)
	if charset := params["charset"]; err == nil && slices.Contains(types, kind) &&
		(charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	detail := fmt.Sprintf("Content-Type %.100q is not understood", given)
	if given == "" {
		detail = "Content-Type is missing"
	}
	return problem(http.StatusUnsupportedMediaType, "unsupported-media-type", detail,
		"send Content-Type: "+types[0]+", in UTF-8")
}

func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}
