package gateway

import (
	"strings"
	"testing"
)

const said = `Running 3s test @ http://127.0.0.1:1/
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.20ms    0.90ms  12.00ms   90.00%
    Req/Sec    10.00k   500.00    11.00k    80.00%
  Latency Distribution
     50%    1.00ms
     75%    1.50ms
     90%    2.00ms
     99%    4.50ms
  60000 requests in 3.00s, 10.00MB read
  Socket errors: connect 0, read 1, write 0, timeout 2
  Non-2xx or 3xx responses: 59000
Requests/sec:  20000.50
Transfer/sec:      3.33MB
`

func TestParse(t *testing.T) {
	r, err := parse(said)
	if err != nil {
		t.Fatal(err)
	}
	if want := (round{rate: 20000.5, p99: 4500, requests: 60000, refused: 59000, errors: 3}); *r != want {
		t.Errorf("%+v, want %+v", *r, want)
	}
	for _, line := range []string{"Requests/sec", "99%", "requests in"} {
		if _, err := parse(strings.ReplaceAll(said, line, "")); err == nil {
			t.Errorf("without %q there is no error", line)
		}
	}
}

func TestPrintNamesEveryEntrant(t *testing.T) {
	var out strings.Builder
	es := []*entrant{{name: "sluice", rates: []float64{95, 97, 96}}, {name: "bare proxy", rates: []float64{100}}}
	lineups()[0].print(&out, es)
	for _, want := range []string{`case=forwarded entrant="sluice" rps=96 floor_ratio=0.96 sluice_ratio=1.00`, `entrant="bare proxy" rps=100 floor_ratio=1.00 sluice_ratio=0.96`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
}
