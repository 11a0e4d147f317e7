package forwardauth

import (
	"bytes"
	"net/http"
	"strconv"
)

// The fields in which a refusal reaches a proxy that takes no other than 403.
const (
	StatusField = "X-Sluice-Status"
	BodyField   = "X-Sluice-Body"
)

// answer writes what was decided in the form that the proxy takes.
type answer interface {
	http.ResponseWriter
	finish() // to be called when all is written
}

// translate returns what writes to w in the form of the dialect.
func (d *dialect) translate(w http.ResponseWriter, original *http.Request) answer {
	if d.only403 {
		return &folded{ResponseWriter: w}
	}
	return &plain{w, original.Method == http.MethodHead}
}

// plain passes everything on. An answer to HEAD tells the length of a body that it does
// not have, but the proxy has asked by GET, and would wait for it.
type plain struct {
	http.ResponseWriter
	head bool
}

func (p *plain) WriteHeader(status int) {
	if p.head {
		delete(p.Header(), "Content-Length")
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *plain) finish() {}

// folded puts status and body of a refusal into header fields: nginx makes an error 500
// of every status but 401 and 403, drops the body, and can be told to take fields over.
type folded struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (f *folded) WriteHeader(status int) { f.status = status }

func (f *folded) Write(b []byte) (int, error) { return f.body.Write(b) }

func (f *folded) finish() {
	if f.status < http.StatusMultipleChoices {
		f.ResponseWriter.WriteHeader(f.status)
		return
	}
	h := f.Header()
	h[StatusField] = []string{strconv.Itoa(f.status)}
	h[BodyField] = []string{string(bytes.TrimSpace(f.body.Bytes()))} // JSON, which has no line breaks
	h["Content-Length"] = []string{"0"}
	f.ResponseWriter.WriteHeader(http.StatusForbidden)
}
