package api

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// exchange is all the memory that a request and its answer need. It is used again.
type exchange struct {
	body    []byte
	out     []byte
	parsed  parsed
	denied  int   // of the decisions of a batch
	counted int64 // of the memory of all bodies
	placed  bool  // it has a place in flight
}

// mostKept is how large the buffers of an exchange may be for it to be used again, and
// manyItems how many requests it may have held.
const (
	mostKept  = 256 << 10
	manyItems = 256
)

func (h *handler) begin() *exchange { return h.exchanges.Get().(*exchange) }

// end gives x back, without references to the texts of the request, and all that it
// holds.
func (h *handler) end(x *exchange) {
	h.leave(x)
	h.bodies.release(x)
	if cap(x.body) > mostKept || cap(x.out) > mostKept || cap(x.parsed.items) > manyItems {
		return
	}
	x.parsed.clear()
	h.exchanges.Put(x)
}

// leave gives the place back.
func (h *handler) leave(x *exchange) {
	if x.placed {
		x.placed = false
		h.options.Places.Leave()
	}
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
