package main

import (
	"strings"
	"testing"
	"testing/synctest"
)

const want = `job 8: put back, the queue is too long
job 9: put back, the queue is too long
job 0: done after 0s
job 1: done after 20ms
job 2: done after 40ms
job 3: done after 60ms
job 4: done after 80ms
job 5: done after 100ms
job 6: done after 120ms
job 7: done after 140ms
`

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		run(t.Context(), &out)
		if out.String() != want {
			t.Errorf("got\n%swant\n%s", out.String(), want)
		}
	})
}
