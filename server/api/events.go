package api

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice/server/audit"
)

// patience is how long a reader of the events may take to accept one.
const patience = 10 * time.Second

// retry tells browsers when to connect again after the stream broke.
const retry = "retry: 3000\n\n"

// events sends changes as they happen, as server-sent events, until the client leaves,
// is too slow, the handler is done, or the backend closes the subscription.
func (h *handler) events(w http.ResponseWriter, r *http.Request) {
	if _, p := queryOf(r); p != nil {
		fail(w, p)
		return
	}
	if h.streams.Add(1) > int64(h.options.MaxStreams) {
		h.streams.Add(-1)
		fail(w, problem(http.StatusServiceUnavailable, "too-many-streams", "too many clients read the events",
			"close one, or use GET /v1/audit"))
		return
	}
	defer h.streams.Add(-1)
	changes, cancel := h.backend.Subscribe()
	defer cancel()
	header := w.Header()
	header["Content-Type"] = []string{"text/event-stream"}
	header["Cache-Control"] = noStore
	header["X-Accel-Buffering"] = []string{"no"} // nginx holds back answers otherwise
	s := stream{w: w, control: http.NewResponseController(w)}
	_ = s.control.SetWriteDeadline(time.Time{}) // that of the server is for short answers
	if r.Method == http.MethodHead || !s.send([]byte(retry)) {
		return
	}
	h.follow(r, &s, changes)
}

// follow sends until one side has enough.
func (h *handler) follow(r *http.Request, s *stream, changes <-chan audit.Entry) {
	beat := time.NewTicker(h.options.Heartbeat)
	defer beat.Stop()
	for {
		message := []byte(": still here\n\n")
		select {
		case <-r.Context().Done():
			return
		case <-h.options.Done:
			return
		case <-beat.C:
		case entry, open := <-changes:
			if !open {
				return
			}
			message = append([]byte("event: change\ndata: "), marshal(entry)...) // one line
			message = append(message, '\n')
		}
		if !s.send(message) {
			return
		}
	}
}

// stream is the way to one reader.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	late    atomic.Bool
}

// send writes a message. If the reader does not take it in time, the connection is
// useless from then on.
func (s *stream) send(message []byte) bool {
	cut := time.AfterFunc(patience, func() {
		s.late.Store(true)
		_ = s.control.SetWriteDeadline(time.Unix(1, 0)) // long ago: ends the write
	})
	defer cut.Stop()
	if _, err := s.w.Write(message); err != nil {
		return false
	}
	return s.control.Flush() == nil && !s.late.Load()
}
