package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lines hands over every line that is logged.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// start serves a copy of the rules and returns its path, its address, its log, and what
// ends it.
func start(t *testing.T) (path, url string, logged lines, end func() error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "rules.yaml")
	text, err := os.ReadFile("rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	replace(t, path, string(text))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	logged = make(lines, 100)
	done := make(chan error, 1)
	go func() { done <- serve(ctx, path, listener, log.New(logged, "", 0)) }()
	return path, "http://" + listener.Addr().String(), logged, func() error {
		cancel()
		return <-done
	}
}

// replace changes a file at once, as it should be done.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// status posts to a path and returns the status of the answer.
func status(t *testing.T, url string) int {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Post(url, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// wait returns when a line with the text was logged.
func wait(t *testing.T, logged lines, text string) {
	t.Helper()
	for {
		select {
		case line := <-logged:
			if strings.Contains(line, text) {
				return
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("nothing with %q was logged", text)
		}
	}
}

func TestServe(t *testing.T) {
	path, url, logged, end := start(t)
	for i, want := range []int{200, 200, 200, 200, 200, 429} {
		if got := status(t, url+"/login"); got != want {
			t.Errorf("attempt %d: status %d, want %d", i+1, got, want)
		}
	}
	replace(t, path, "rules: [{name: login, limits: 5}]")
	wait(t, logged, "the rules before go on")
	if got := status(t, url+"/login"); got != 429 {
		t.Errorf("with a broken file: status %d", got)
	}
	replace(t, path, "rules: [{name: other, match: {paths: [/other]}, limits: [1/h]}]")
	wait(t, logged, "rules in force: 1")
	if got := status(t, url+"/login"); got != 200 {
		t.Errorf("without the rule: status %d", got)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestServeNeedsRules(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := serve(t.Context(), filepath.Join(t.TempDir(), "none.yaml"), listener, log.Default()); err == nil {
		t.Error("no error for rules that are not there")
	}
}
