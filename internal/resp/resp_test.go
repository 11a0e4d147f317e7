package resp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/internal/resp"
)

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"+OK\r\n":                         "OK",
		":-42\r\n":                        "-42",
		"$5\r\na\r\nbc\r\n":               "a\r\nbc",
		"$0\r\n\r\n":                      "",
		"$-1\r\n":                         "<nil>",
		"*-1\r\n":                         "<nil>",
		"*0\r\n":                          "[]",
		"*3\r\n:1\r\n$1\r\nx\r\n-E e\r\n": "[1 x E e]",
	} {
		got, err := resp.Read(bufio.NewReader(strings.NewReader(text)))
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "+", "\r\n", "$x\r\n", "$5\r\nab", "*2\r\n:1\r\n", ":x\r\n"} {
		if got, err := resp.Read(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// TestPipeline: answers come back to those who asked.
func TestPipeline(t *testing.T) {
	c, err := resp.Dial(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for i := range 200 {
				word := fmt.Sprint(worker, " ", i)
				got, err := c.Do(context.Background(), "ECHO", word)
				if err != nil || got != word {
					t.Errorf("got %v, %v, want %s", got, err, word)
				}
			}
		})
	}
	all.Wait()
	var answered resp.Error
	if _, err := c.EvalSha(context.Background(), "none", nil, nil); !errors.As(err, &answered) || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
		t.Errorf("an unknown script: error %v", err)
	}
	numbers, err := c.Eval(context.Background(), "return {1, #KEYS, #ARGV}", []string{"k"}, []string{"a", "b"})
	if err != nil || fmt.Sprint(numbers) != "[1 1 2]" {
		t.Errorf("got %v, %v", numbers, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Do(context.Background(), "PING"); err == nil {
		t.Error("a closed connection answers")
	}
}
