package compare

import (
	"errors"
	"iter"
	"strings"

	"github.com/sluice-limiter/sluice/accesslog"
	"github.com/sluice-limiter/sluice/replay"
)

// FromLog makes a traffic of the entries of a log, whose name is told in the report. Each
// client has its own budget, or all share one. Requests of which only the second is known
// are put at equal distances in it.
func FromLog(name string, entries iter.Seq[*accesslog.Entry], perClient bool) (*Traffic, error) {
	t := &Traffic{Name: name, About: "the requests of a log, all under one budget"}
	if perClient {
		t.About = "the requests of a log, a budget for each client"
	}
	numbers := map[string]int32{}
	for e := range replay.Retime(entries, replay.SpreadUniform, 0, nil) {
		if len(t.requests) == MaxRequests {
			t.Cut = true
			break
		}
		if len(t.requests) == 0 {
			t.origin = e.Time
		}
		key := "all"
		if perClient {
			key = client(e)
		}
		number, known := numbers[key]
		if !known {
			number = int32(len(t.keys))
			key = strings.Clone(key)
			numbers[key] = number
			t.keys = append(t.keys, key)
		}
		t.requests = append(t.requests, request{at: max(e.Time-t.origin, t.length), key: number})
		t.length = t.requests[len(t.requests)-1].at
	}
	if len(t.requests) < 2 {
		return nil, errors.New("compare: the log has fewer than two requests")
	}
	t.length++ // the last request is inside
	return t, nil
}

// client names whose request it is, as well as the log tells.
func client(e *accesslog.Entry) string {
	switch {
	case e.IP.IsValid():
		return e.IP.String()
	case e.Key != "":
		return e.Key
	}
	return "unknown"
}
