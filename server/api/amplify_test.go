package api

import (
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestMemoryOfBodies: a small body cannot make the server take a large amount of memory
// before it is refused, in whatever way it hides what is in it.
func TestMemoryOfBodies(t *testing.T) {
	fill := func(before, member, after string) string {
		n := (defaultMaxBody - len(before) - len(after)) / len(member)
		return before + strings.TrimSuffix(strings.Repeat(member, n), ",") + after
	}
	for name, c := range map[string]struct{ body, field string }{
		"empty requests":     {fill(`{"requests":[`, `{},`, `]}`), "requests"},
		"after a status":     {fill(`{"status":false,"requests":[`, `{},`, `]}`), "requests"},
		"nulls":              {fill(`{"requests":[`, `null,`, `]}`), "requests"},
		"numbers":            {fill(`{"requests":[`, `1,`, `]}`), "requests"},
		"in another case":    {fill(`{"Requests":[`, `{},`, `]}`), "Requests"},
		"after a mistake":    {fill(`{"path":5,"requests":[`, `{},`, `]}`), "requests"},
		"after an unknown":   {fill(`{"a":[],"requests":[`, `{},`, `]}`), "a"},
		"after a repetition": {fill(`{"path":"","path":"","requests":[`, `{},`, `]}`), "path"},
		"for a text":         {fill(`{"path":[`, `{},`, `]}`), "path"},
		"lists for objects":  {fill(`{"requests":[`, `[],`, `]}`), "requests"},
		"headers":            {`{"headers":{` + many(80_000) + `}}`, "headers"},
		"attributes":         {`{"requests":[{"attributes":{` + many(80_000) + `}}]}`, "requests[0].attributes"},
		"headers again":      {fill(`{`, `"headers":{"a":"","b":""},`, `}`), "headers"},
	} {
		t.Run(name, func(t *testing.T) {
			x := exchange{body: []byte(c.body)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := x.parseCheck()
			runtime.ReadMemStats(&after)
			if p == nil || p.Field != c.field {
				t.Errorf("%+v", p)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 12*defaultMaxBody {
				t.Errorf("%d KiB for a body of %d KiB", taken>>10, len(c.body)>>10)
			}
		})
	}
}

// TestMemoryFollowsBytes: a body takes memory as it comes, not as it is announced.
func TestMemoryFollowsBytes(t *testing.T) {
	h := &handler{}
	h.bodies.limit = bodyMemory
	for _, sent := range []int{0, 1, step, 3*step + 1} {
		var x exchange
		body := io.MultiReader(strings.NewReader(strings.Repeat(" ", sent)), iotest.ErrReader(errors.New("gone")))
		if p := h.readExactly(&x, body, defaultMaxBody); p == nil || p.Status != http.StatusRequestTimeout {
			t.Errorf("%d bytes: %+v", sent, p)
		}
		if cap(x.body) > 2*(sent+step) {
			t.Errorf("%d bytes were sent, and took %d", sent, cap(x.body))
		}
	}
	for _, size := range []int{0, 1, step - 1, step, step + 1, defaultMaxBody} {
		var x exchange
		text := strings.Repeat("0123456789", size/10+1)[:size]
		if p := h.readExactly(&x, iotest.HalfReader(strings.NewReader(text+"more")), size); p != nil || string(x.body) != text {
			t.Errorf("%d bytes: %d read, %+v", size, len(x.body), p)
		}
	}
}

// TestServerLimits: a client that dribbles is cut soon.
func TestServerLimits(t *testing.T) {
	s := NewServer(http.NotFoundHandler())
	if s.ReadTimeout == 0 || s.ReadTimeout > 8*time.Second || s.ReadHeaderTimeout == 0 || s.ReadHeaderTimeout > s.ReadTimeout {
		t.Errorf("header %v, body %v", s.ReadHeaderTimeout, s.ReadTimeout)
	}
}
