package main

import (
	"strings"
	"testing"
	"testing/synctest"
)

const want = `ann: wrong password, 4 attempts left
ann: wrong password, 3 attempts left
ann: wrong password, 2 attempts left
ann: wrong password, 1 attempts left
ann: wrong password, 0 attempts left
ann: too many attempts (per-minute), try again in 1m0s
bob: welcome
`

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(&out); err != nil || out.String() != want {
			t.Errorf("error %v, got\n%swant\n%s", err, out.String(), want)
		}
	})
}
