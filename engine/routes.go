package engine

import (
	"strconv"
	"strings"
	"unsafe"
)

// Route is where requests go, without what differs from one to the next.
type Route struct {
	Method string
	// Path is as a rule's match.paths would have it: /users/{id}/orders. What looks like
	// an identifier is a variable, and what comes after four segments is cut to /*.
	Path  string
	Count int64 // since one to two hours ago, or since the rules changed
	Error int64 // Count is off by no more than this; see Engine.Top
}

// Uncovered returns the n busiest routes that no rule matches, busiest first. It is
// sampled and bounded as Top is.
func (e *Engine) Uncovered(n int) []Route { return e.watch.uncovered(n) }

func (w *watch) uncovered(n int) []Route {
	items := w.routes.Load().Top(w.clock.Now(), n)
	routes := make([]Route, len(items))
	for i, item := range items {
		method, path, _ := strings.Cut(item.Key, " ")
		count, off := estimate(item)
		routes[i] = Route{Method: method, Path: printable(path, item.Cut), Count: count, Error: off}
	}
	return routes
}

func (w *watch) addRoute(e *Event, hint uint32, now int64, weight uint64) {
	var space [128]byte
	method := ""
	if e.Request != nil {
		method = e.Request.Method
	}
	route := appendRoute(space[:0], method, e.Path)
	// The table copies what it keeps.
	w.routes.Load().Add(hint, now, "", unsafe.String(unsafe.SliceData(route), len(route)), weight)
}

const (
	maxMethod   = 16
	maxSegments = 4
	maxSegment  = 40 // longer ones are identifiers
)

// appendRoute appends method and path, so reduced that no client can make many of one
// route.
func appendRoute(to []byte, method, path string) []byte {
	if !isWord(method) {
		method = "*"
	}
	to = append(append(to, method...), ' ')
	ids, segments := 0, 0
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if segments++; segments > maxSegments {
			return append(to, "/*"...)
		}
		to = append(to, '/')
		if !isID(segment) {
			to = append(to, segment...)
			continue
		}
		to = append(to, "{id"...)
		if ids++; ids > 1 {
			to = strconv.AppendInt(to, int64(ids), 10)
		}
		to = append(to, '}')
	}
	return to
}

// isWord reports whether a method is a plain short word, as all real ones are.
func isWord(method string) bool {
	for _, c := range []byte(method) {
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return method != "" && len(method) <= maxMethod
}

// isID reports whether a segment looks like the name of one thing of many: a number, a
// date, a hash, a UUID, an address. A word with a short number, such as v2, does not.
func isID(segment string) bool {
	digits, hexes, letters := 0, 0, 0
	for _, c := range []byte(segment) {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'f' || c == '-':
			hexes++
		case c|0x20 >= 'g' && c|0x20 <= 'z':
			letters++
		case c == '@':
			return true
		}
	}
	switch size := len(segment); {
	case digits == 0:
		return size > maxSegment
	case size > maxSegment, digits == size, digits >= 4:
		return true
	case digits+hexes == size:
		return size >= 8
	default: // such as base64
		return digits >= 2 && size >= 16 && letters > 0
	}
}
