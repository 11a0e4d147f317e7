package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestIncompleteBodies: a body that does not come to its end is never answered as if
// the check was made, over a real connection, where net/http cancels the request.
func TestIncompleteBodies(t *testing.T) {
	const head = "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
	for name, c := range map[string]struct {
		path, rest string
		half       bool // the client closes its side
		status     int
	}{
		"ends early":        {path: "/v1/check", rest: "Content-Length: 100\r\n\r\n{", half: true, status: http.StatusBadRequest},
		"pauses":            {path: "/v1/check", rest: "Content-Length: 100\r\n\r\n{", status: http.StatusRequestTimeout},
		"pauses at once":    {path: "/v1/check", rest: "Content-Length: 100\r\n\r\n", status: http.StatusRequestTimeout},
		"chunk ends early":  {path: "/v1/check", rest: "Transfer-Encoding: chunked\r\n\r\n9\r\n{", half: true, status: http.StatusBadRequest},
		"chunk pauses":      {path: "/v1/check", rest: "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", status: http.StatusRequestTimeout},
		"chunk is broken":   {path: "/v1/check", rest: "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", status: http.StatusRequestTimeout},
		"batch ends early":  {path: "/v1/check", rest: "Content-Length: 100\r\n\r\n{\"requests\":[{}]}", half: true, status: http.StatusBadRequest},
		"peek pauses":       {path: "/v1/peek", rest: "Content-Length: 100\r\n\r\n{}", status: http.StatusRequestTimeout},
		"commit ends early": {path: "/v1/commit", rest: "Content-Length: 100\r\n\r\n{}", half: true, status: http.StatusBadRequest},
		"rules pause":       {path: "/v1/rules/validate", rest: "Content-Length: 100\r\n\r\n{}", status: http.StatusRequestTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewUnstartedServer(New(newFake(t, sample, nil), Options{}))
			server.Config.ReadHeaderTimeout = time.Minute
			if !c.half {
				server.Config.ReadTimeout = 100 * time.Millisecond
			}
			server.Start()
			defer server.Close()
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err = fmt.Fprintf(conn, head+"%s", c.path, c.rest); err != nil {
				t.Fatal(err)
			}
			if c.half {
				if err = conn.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, _ := io.ReadAll(answer.Body)
			if answer.StatusCode != c.status || len(body) == 0 {
				t.Errorf("status %d, want %d: %q", answer.StatusCode, c.status, body)
			}
		})
	}
}
