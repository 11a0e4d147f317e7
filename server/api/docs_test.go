package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/audit"
)

const (
	page    = "../../docs/API.md"
	address = "http://127.0.0.1:8080"
)

// block is a piece of code of the page.
type block struct {
	kind, text string
	next       *block
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

func blocksOf(t *testing.T) (text string, all []block) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllStringSubmatch(string(data), -1) {
		all = append(all, block{kind: m[1], text: m[2]})
	}
	for i := range all[:len(all)-1] {
		all[i].next = &all[i+1]
	}
	return string(data), all
}

// documented is a handler with the rules of the page.
func documented(t *testing.T, all []block) (*fake, http.Handler) {
	t.Helper()
	f := newFake(t, all[0].text, nil)
	second := start.Add(-time.Second).UnixMicro()
	f.recorded = []Recorded{{second + 123_456, 1105356177, 1}, {second + 456_789, 135729250, 1}, {second + 789_012, 1105356177, 1}}
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "# metrics\n") })
	return f, New(f, Options{Metrics: metrics})
}

// TestPage: the curl lines of the page give the answers that it shows, and every
// endpoint is among them.
func TestPage(t *testing.T) {
	text, all := blocksOf(t)
	f, h := documented(t, all)
	seen, id := map[string]bool{}, ""
	for _, b := range all {
		if b.kind != "console" {
			continue
		}
		for _, part := range strings.Split("\n"+b.text, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			c := parseCurl(t, strings.ReplaceAll(command, `"id":"ID"`, fmt.Sprintf(`"id":%q`, id)))
			route, _ := h.(*handler).find(c.method, strings.SplitN(c.path, "?", 2)[0])
			if route == nil {
				t.Fatalf("no endpoint: %s", command)
			}
			seen[route.method+" "+route.path] = true
			got := c.run(t, f, h)
			if m := regexp.MustCompile(`"id":\s*"(\w+)"`).FindStringSubmatch(got); m != nil {
				id = m[1]
			}
			if alike(want, got) {
				continue
			}
			if *rewrite {
				text = strings.Replace(text, "$ "+command+"\n"+want, "$ "+command+"\n"+strings.TrimSuffix(got, "\n")+"\n", 1)
				continue
			}
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
	for _, r := range allRoutes(t) {
		if !seen[r.method+" "+r.path] {
			t.Errorf("%s %s is not on the page", r.method, r.path)
		}
	}
	if *rewrite {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// curl is a command line, as far as the page uses it.
type curl struct {
	method, path, body string
	header             http.Header
	include            bool // -i: the header too
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

func parseCurl(t *testing.T, command string) curl {
	t.Helper()
	c := curl{header: http.Header{}}
	words := word.FindAllString(command, -1)
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	if words[0] != "curl" {
		t.Fatalf("not understood: %s", command)
	}
	for words = words[1:]; len(words) > 0; words = words[1:] {
		switch option := words[0]; option {
		case "-i":
			c.include = true
		case "-N":
		case "-X", "-H", "--json", "--data-binary":
			words = words[1:]
			c.set(option, words[0])
		default:
			path, ok := strings.CutPrefix(option, address)
			if !ok || c.path != "" {
				t.Fatalf("not understood: %s in %s", option, command)
			}
			c.path = path
		}
	}
	if c.method == "" {
		c.method = "GET"
	}
	return c
}

func (c *curl) set(option, value string) {
	method := "POST"
	switch option {
	case "-X":
		method = value
	case "-H":
		name, value, _ := strings.Cut(value, ": ")
		c.header.Set(name, value)
		return
	case "--json":
		c.body = value
		c.header.Set("Content-Type", "application/json")
	case "--data-binary":
		c.body = value
	}
	if c.method == "" || option == "-X" {
		c.method = method
	}
}

// run returns what curl would print; of the header only what the page shows.
func (c curl) run(t *testing.T, f *fake, h http.Handler) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), c.method, address+c.path, strings.NewReader(c.body))
	r.Header, r.RemoteAddr = c.header, "127.0.0.1:50000"
	if c.body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	w := httptest.NewRecorder()
	if c.path == "/v1/events" {
		follow(f, h, w, r)
		return w.Body.String()
	}
	h.ServeHTTP(w, r)
	if !c.include {
		return w.Body.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\n", w.Code, http.StatusText(w.Code))
	for _, name := range []string{"Retry-After", "Ratelimit", "Content-Type"} {
		if value := w.Header().Get(name); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	return b.String() + "\n" + w.Body.String()
}

// follow reads the events while something is changed.
func follow(f *fake, h http.Handler, w http.ResponseWriter, r *http.Request) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(w, r)
	}()
	for f.subscribers() == 0 {
		select {
		case <-done:
			return
		case <-r.Context().Done():
			return
		default:
			runtime.Gosched()
		}
	}
	f.add(audit.Entry{Time: start, Source: "file", Action: "reload", Lines: []string{"rule login: 10/m → 5/m"}, Hash: "4c1f"})
	f.mu.Lock()
	for reader := range f.readers {
		close(reader)
	}
	f.mu.Unlock()
	<-done
}

// alike compares what the page shows with an answer. In JSON, … stands for any value,
// and as a name for all other members. Nothing shown means that nothing matters.
func alike(want, got string) bool {
	want, got = strings.TrimSpace(want), strings.TrimSpace(got)
	if i := strings.Index(want, "\n{"); strings.HasPrefix(want, "HTTP/") && i > 0 {
		j := strings.Index(got, "\n{")
		return j > 0 && want[:i] == got[:j] && alike(want[i:], got[j:])
	}
	var a, b any
	if json.Unmarshal([]byte(want), &a) == nil && json.Unmarshal([]byte(got), &b) == nil {
		return same(a, b)
	}
	return want == got || want == "…"
}

func same(want, got any) bool {
	switch want := want.(type) {
	case string:
		return want == "…" || want == got
	case []any:
		got, ok := got.([]any)
		return ok && slices.EqualFunc(want, got, same)
	case map[string]any:
		got, ok := got.(map[string]any)
		_, more := want["…"]
		delete(want, "…")
		for name, value := range want {
			if other, has := got[name]; !has || !same(value, other) {
				return false
			}
		}
		return ok && (more || len(want) == len(got))
	}
	return reflect.DeepEqual(want, got)
}

// TestPageScripts runs the examples in other languages.
func TestPageScripts(t *testing.T) {
	_, all := blocksOf(t)
	_, h := documented(t, all)
	server := httptest.NewServer(h)
	defer server.Close()
	programs := map[string][]string{"python": {"python3", "-"}, "javascript": {"node", "-"}}
	for _, b := range all {
		program, ok := programs[b.kind]
		if !ok {
			continue
		}
		t.Run(b.kind, func(t *testing.T) { // one after the other: the second goes on where the first ends
			path, err := exec.LookPath(program[0])
			if err != nil {
				t.Fatal(err, `("make deps" installs it)`)
			}
			// A slow machine must not fall back on letting the request pass.
			text := strings.NewReplacer(address, server.URL, "timeout=0.5", "timeout=30", "timeout(500)", "timeout(30000)").Replace(b.text)
			command := exec.CommandContext(context.WithoutCancel(t.Context()), path, program[1:]...)
			command.Stdin = strings.NewReader(text)
			var errors bytes.Buffer
			command.Stderr = &errors
			out, err := command.Output()
			if err != nil || string(out) != b.next.text {
				t.Errorf("%v\n got %s\nwant %s%s", err, out, b.next.text, &errors)
			}
		})
	}
}
