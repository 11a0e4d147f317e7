package gateway

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// answer sends the answer of a server back. It returns a problem if nothing has been
// sent of it; if it breaks off later, the client's connection does too.
func (o *outbound) answer(w http.ResponseWriter, res *http.Response, s *server) *problem {
	o.route.upstream.metrics.answers[classOf(res.StatusCode)].Inc()
	if res.StatusCode == http.StatusSwitchingProtocols {
		return o.tunnel(w, res)
	}
	defer res.Body.Close()
	h := w.Header()
	named := res.Header["Connection"]
	removeUntrailing(res.Trailer, named)
	removeHopByHop(res.Header)
	for name, lines := range res.Header {
		if ours := h[name]; len(ours) > 0 {
			lines = append(ours, lines...)
		}
		h[name] = lines
	}
	if len(h["Content-Type"]) == 0 {
		h["Content-Type"] = nil // else our server would guess one
	}
	announced := len(res.Trailer)
	for name := range res.Trailer {
		h.Add("Trailer", name)
	}
	if announced > 0 && o.request.ProtoMajor == 1 {
		delete(h, "Content-Length") // only chunks can have a trailer
	}
	o.extend()
	w.WriteHeader(res.StatusCode)
	if res.Body != http.NoBody {
		if err := o.copy(w, res); err != nil {
			o.breakOff(err, s)
		}
	}
	if removeUntrailing(res.Trailer, named); len(res.Trailer) > 0 {
		sendTrailer(w, res.Trailer, announced)
	}
	return nil
}

// breakOff ends an exchange whose answer has begun and cannot be completed.
func (o *outbound) breakOff(err error, s *server) {
	var f *failure
	if errors.As(err, &f) && o.request.Context().Err() == nil {
		o.failure = f.kind
		s.health.failed()
		o.route.upstream.metrics.failed(f.kind)
		o.route.upstream.logger.log(s.name, f.kind, err)
	} else {
		o.failure = "client_gone"
	}
	panic(http.ErrAbortHandler)
}

// sendTrailer sends what comes after a body.
func sendTrailer(w http.ResponseWriter, trailer http.Header, announced int) {
	_ = http.NewResponseController(w).Flush() // a body that is empty would else be sent without
	prefix := ""
	if len(trailer) != announced {
		prefix = http.TrailerPrefix
	}
	for name, lines := range trailer {
		w.Header()[prefix+name] = lines
	}
}

// buffers are for copying. They are as large as a chunk that is worth a system call.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copy sends the body back, part by part as it comes: nobody knows when the next one will.
// The last part of a known length goes out with the end of the answer.
func (o *outbound) copy(w http.ResponseWriter, res *http.Response) error {
	buffer := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	left := res.ContentLength // below zero: not known
	for {
		n, err := res.Body.Read(buffer[:])
		if left -= int64(n); n > 0 {
			o.extend()
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
			if left != 0 && err == nil {
				_ = http.NewResponseController(w).Flush() // an error of it is one of the next Write
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &failure{shutOff, err}
		}
	}
}
