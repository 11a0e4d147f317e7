package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// Header fields that never change. Nobody may write to them.
var (
	typeJSON = []string{"application/json"}
	noStore  = []string{"no-store"}
	noSniff  = []string{"nosniff"}
)

// small is the size of an answer whose length net/http finds out by itself.
const small = 2048

// marshal writes v in one line. It cannot fail: what we answer is made of plain data.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("{}\n")
	}
	return b.Bytes()
}

// answer sends v.
func answer(w http.ResponseWriter, v any) {
	w.Header()["Cache-Control"] = noStore
	send(w, http.StatusOK, marshal(v))
}

// send sends a body of JSON. Answers to a POST are kept by nobody, so that it need not
// say so.
func send(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header["Content-Type"] = typeJSON
	if len(body) > small {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
	}
	_, _ = w.Write(body) // the client may be gone
}
