package main

import (
	"strings"
	"testing"
	"testing/synctest"
)

const want = `first instance: 60 of 1000 allowed, the others refused by the limit "instance"
second instance: 40 of 1000 allowed, the others refused by the limit "fleet"
third instance, the store is down: 60 of 1000 allowed, the others refused by the limit "instance"
`

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(&out); err != nil || out.String() != want {
			t.Errorf("error %v, got\n%swant\n%s", err, out.String(), want)
		}
	})
}
