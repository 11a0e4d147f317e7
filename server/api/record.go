package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Recorded is a request that a rule decided, as far as the server remembers it.
type Recorded struct {
	At   int64  // µs since 1970
	Key  uint64 // hashed by a secret of the process
	Cost int64
}

// record sends what is remembered of a rule's requests: as CSV, which sluice recommend and
// sluice replay read.
func (h *handler) record(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, namedRules), recordOf)
	_, p := queryOf(r)
	if p == nil && !h.sending.begin() {
		p = busy(recordsBusy)
	}
	if p != nil {
		fail(w, p)
		return
	}
	defer h.sending.end()
	requests, err := h.backend.Record(name)
	if err != nil {
		fail(w, unremembered(name, err))
		return
	}
	w.Header()["Content-Type"] = []string{"text/csv"}
	w.Header()["Cache-Control"] = noStore
	if r.Method == http.MethodHead {
		return
	}
	s := stream{w: w, control: http.NewResponseController(w)}
	_ = s.control.SetWriteDeadline(time.Time{}) // that of the server is for short answers
	piece := append(make([]byte, 0, recordPiece+64), "time,key,cost\n"...)
	for one := range requests {
		piece = one.appendCSV(piece)
		if len(piece) < recordPiece {
			continue
		}
		if !s.send(piece) || h.leaving() {
			panic(http.ErrAbortHandler) // the reader must not take it for the whole
		}
		piece = piece[:0]
	}
	s.send(piece)
}

// recordPiece is how many bytes are sent at once.
const recordPiece = 32 << 10

func (r Recorded) appendCSV(to []byte) []byte {
	to = append(strconv.AppendInt(to, r.At, 10), ',')
	to = append(strconv.AppendUint(to, r.Key, 36), ',')
	return append(strconv.AppendInt(to, r.Cost, 10), '\n')
}

// leaving reports whether the server is about to stop.
func (h *handler) leaving() bool {
	select {
	case <-h.options.Done:
		return true
	default:
		return false
	}
}

// unremembered tells why there is nothing about a rule's requests.
func unremembered(name string, err error) *Problem {
	if errors.Is(err, ErrNoRule) {
		return problem(http.StatusNotFound, "not-found", fmt.Sprintf("there is no rule %.100q", name), "GET /v1/rules lists all")
	}
	return problem(http.StatusConflict, "no-record", err.Error(), "set record.memory, such as to 32MiB, and start the server again")
}
