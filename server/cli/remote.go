package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-limiter/sluice/server/api"
)

// remote is a server that commands ask.
type remote struct {
	url   string
	token string
	http  *http.Client
}

// serverFlags adds the flags that say which server, and returns it.
func serverFlags(c *cobra.Command, t Terminal) *remote {
	r := &remote{http: &http.Client{Timeout: 10 * time.Second}}
	address := "http://127.0.0.1:8080"
	if value, ok := lookup(t.Environ, "SLUICE_SERVER"); ok {
		address = value
	}
	r.token, _ = lookup(t.Environ, "SLUICE_TOKEN")
	c.Flags().StringVar(&r.url, "server", address, "address of the server; also SLUICE_SERVER. Its token comes from SLUICE_TOKEN")
	return r
}

// environment returns how settings look up variables.
func environment(t Terminal) func(string) (string, bool) {
	return func(name string) (string, bool) { return lookup(t.Environ, name) }
}

func lookup(environ []string, name string) (string, bool) {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// problem is what a server says instead of an answer.
type problem struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`

	Problems []api.RuleProblem `json:"problems"` // of a rule file
}

// ask sends body, if it is not nil, as JSON, and reads the answer.
func (r *remote) ask(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	res, err := r.send(ctx, r.http, method, path, sent)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusNoContent {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// mostAnswer is how many bytes of an answer are read.
const mostAnswer = 64 << 20

// stream asks for an answer that may be long, and take long.
func (r *remote) stream(ctx context.Context, path string) (io.ReadCloser, error) {
	res, err := r.send(ctx, &http.Client{Transport: r.http.Transport}, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// send returns the answer of the server, if it is one and no refusal.
func (r *remote) send(ctx context.Context, client *http.Client, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(r.url, "/")+path, body)
	if err != nil || req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return nil, usage(fmt.Errorf("--server %q is no address: write http://127.0.0.1:8080", r.url))
	}
	req.Header.Set("Content-Type", "application/json")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w (is a server running there? start one with: sluice serve)", err)
	}
	if res.StatusCode/100 == 2 {
		return res, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	return nil, refused(res.StatusCode, text)
}

func refused(status int, text []byte) error {
	var p problem
	if json.Unmarshal(text, &p) != nil || p.Title == "" {
		return fmt.Errorf("the server answered with status %d", status)
	}
	var parts []string
	for _, part := range []string{p.Detail, p.Hint} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if status == http.StatusUnauthorized {
		parts = append(parts, "set SLUICE_TOKEN")
	}
	lines := []string{p.Title + ": " + strings.Join(parts, "; ")}
	for _, wrong := range p.Problems {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", wrong.File, wrong.Line, wrong.Column, wrong.Reason))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// printJSON is what --json prints.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
