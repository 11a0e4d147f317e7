package accesslog_test

import (
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/accesslog"
)

// fuzzFormat feeds lines to one format: no line makes it panic or allocate beyond some
// multiple of its length, and what it reads are parts of the line or decoded from it.
func fuzzFormat(f *testing.F, name string) {
	format, err := accesslog.Lookup(name, accesslog.Settings{Fields: map[string]string{"attribute:plan": "plan"}})
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range lineTests {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.TrimSpace(line) == "" || len(line) > accesslog.MaxLine {
			return
		}
		p := format.Parser()
		var e, again accesslog.Entry
		reason := p.Parse(line, &e)
		if r := p.Parse(line, &again); r != reason || reason == "" && show(&again) != show(&e) {
			t.Fatalf("%q: %q, then %q", line, reason, r)
		}
		if reason != "" {
			return
		}
		size := len(e.Method) + len(e.Host) + len(e.Path) + len(e.Query) + len(e.User) + len(e.Agent) + len(e.Key)
		for _, m := range e.More {
			size += len(m.Value)
		}
		if size > 8*len(line) || e.Time < 0 || e.Status < 0 || e.Bytes < 0 || e.Cost < 0 || e.Duration < 0 {
			t.Fatalf("%q: %s", line, show(&e))
		}
	})
}

func FuzzCombined(f *testing.F)     { fuzzFormat(f, "combined") }
func FuzzNginx(f *testing.F)        { fuzzFormat(f, nginxMain) }
func FuzzJSON(f *testing.F)         { fuzzFormat(f, "json") }
func FuzzCaddy(f *testing.F)        { fuzzFormat(f, "json-caddy") }
func FuzzDecisions(f *testing.F)    { fuzzFormat(f, "sluice") }
func FuzzDecisionText(f *testing.F) { fuzzFormat(f, "sluice-text") }
func FuzzALB(f *testing.F)          { fuzzFormat(f, "alb") }

// FuzzLogFormat: any text is a log_format or an error, and reads any line.
func FuzzLogFormat(f *testing.F) {
	f.Add(nginxMain, lineTests[0].line)
	f.Add("$msec ${remote_addr}$", "1 x")
	f.Fuzz(func(t *testing.T, text, line string) {
		format, err := accesslog.NginxFormat(text, accesslog.Settings{})
		if err != nil {
			return
		}
		var e accesslog.Entry
		_ = format.Parser().Parse(line, &e)
	})
}

// FuzzTable: any header and any line of a table, of W3C's kind and of CSV.
func FuzzTable(f *testing.F) {
	f.Add("time,ip,uri", "1455926445,192.0.2.1,\"/a\"\"b\"")
	f.Add("#Fields: date time c-ip cs(User-Agent) x-edge-location", "2016-02-20\t00:00:45\t192.0.2.1\tx%20y\tFRA")
	f.Fuzz(func(t *testing.T, head, line string) {
		for _, name := range []string{"csv", "tsv", "w3c"} {
			format, err := accesslog.Lookup(name, accesslog.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(head+"\n"+line+"\n"))}, accesslog.Options{Format: format})
			for range log.Entries(t.Context()) {
				continue
			}
			if l := log.Lines(); l.Parsed+l.Rejected != l.Total || l.Total < 2 && log.Err() == nil {
				t.Fatalf("%s: %+v", name, l)
			}
		}
	})
}

// FuzzLog: whatever a file holds, every line is parsed or rejected, and times are in
// order.
func FuzzLog(f *testing.F) {
	for _, c := range lineTests {
		f.Add(c.line + "\n" + c.line)
	}
	f.Add("#Fields: date time c-ip\n2016-02-20 00:00:45 192.0.2.1\n#Fields: time\n")
	f.Add("ip,time\n192.0.2.1,1455926445\n")
	f.Add("\x1f\x8b")
	f.Fuzz(func(t *testing.T, text string) {
		log := accesslog.New([]accesslog.Source{accesslog.Stream("log", strings.NewReader(text))}, accesslog.Options{})
		entries, last := int64(0), int64(0)
		for e := range log.Entries(t.Context()) {
			if entries++; e.Time < last {
				t.Fatalf("%v after %d", e.At(), last)
			}
			last = e.Time
		}
		l := log.Lines()
		want := int64(strings.Count(text, "\n"))
		if text != "" && !strings.HasSuffix(text, "\n") {
			want++
		}
		if log.Err() != nil && l.Total == 0 { // it looks compressed, and is not
			return
		}
		if text == "\xef\xbb\xbf" {
			want = 0
		}
		if l.Total != want || l.Parsed+l.Rejected != l.Total || l.Parsed != entries {
			t.Fatalf("%d lines, %d entries: %+v", want, entries, l)
		}
	})
}
