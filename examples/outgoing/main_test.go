package main

import (
	"strings"
	"testing"
	"testing/synctest"
)

const want = `call 0: status 200 after 0s
call 1: status 200 after 0s
call 2: status 200 after 50ms
call 3: status 200 after 100ms
call 4: status 429 after 150ms
call 5: not made, api.example.com:80 wants a rest of 30s
`

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(&out, server()); err != nil || out.String() != want {
			t.Errorf("error %v, got\n%swant\n%s", err, out.String(), want)
		}
	})
}
