package gateway

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// round is what wrk has seen.
type round struct {
	rate     float64 // per second
	p99      float64 // µs
	requests float64
	refused  float64 // status other than 2xx and 3xx
	errors   float64 // of connections
}

const connections = 64

var (
	rateLine     = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	p99Line      = regexp.MustCompile(`99%\s+([0-9.]+)(us|ms|s)`)
	requestsLine = regexp.MustCompile(`([0-9]+) requests in`)
	refusedLine  = regexp.MustCompile(`Non-2xx or 3xx responses: ([0-9]+)`)
	errorsLine   = regexp.MustCompile(`Socket errors: connect ([0-9]+), read ([0-9]+), write ([0-9]+), timeout ([0-9]+)`)
)

// load lets wrk ask for about a length of time, in whole seconds.
func load(address string, length time.Duration) (*round, error) {
	seconds := max(1, int(length.Round(time.Second)/time.Second))
	out, err := exec.Command("wrk", "-t2", "-c"+strconv.Itoa(connections), "-d"+strconv.Itoa(seconds)+"s", "--latency", "http://"+address+"/some/path?with=query").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("wrk: %w: %s", err, out)
	}
	return parse(string(out))
}

func parse(text string) (*round, error) {
	r := &round{}
	var err error
	if r.rate, err = find(rateLine, text); err != nil {
		return nil, err
	}
	if r.requests, err = find(requestsLine, text); err != nil {
		return nil, err
	}
	if r.p99, err = find(p99Line, text); err != nil {
		return nil, err
	}
	switch p99Line.FindStringSubmatch(text)[2] {
	case "ms":
		r.p99 *= 1e3
	case "s":
		r.p99 *= 1e6
	}
	if strings.Contains(text, "Non-2xx") {
		if r.refused, err = find(refusedLine, text); err != nil {
			return nil, err
		}
	}
	if all := errorsLine.FindStringSubmatch(text); all != nil {
		for _, figure := range all[1:] {
			n, _ := strconv.ParseFloat(figure, 64)
			r.errors += n
		}
	}
	return r, nil
}

func find(line *regexp.Regexp, text string) (float64, error) {
	found := line.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("wrk says nothing like %v: %s", line, text)
	}
	return strconv.ParseFloat(found[1], 64)
}
