package main

import (
	"strings"
	"testing"
	"testing/synctest"
)

const want = `acme: reserved 4000, used 2500, 7500 left
acme: reserved 4000, used 4900, 2600 left
acme: refused, try again in 8s
acme: reserved 2500, used 2500, 100 left
umbrella: reserved 4000, used 3000, 7000 left
`

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(&out); err != nil || out.String() != want {
			t.Errorf("error %v, got\n%swant\n%s", err, out.String(), want)
		}
	})
}
