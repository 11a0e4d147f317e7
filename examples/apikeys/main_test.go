package main

import (
	"strings"
	"testing"
	"testing/synctest"
)

const want = `key "some-customer": 10 of 1000 allowed, the others: "limited"
key "big-customer": 100 of 1000 allowed, the others: "limited"
key "nightly-jobs": 1000 of 1000 allowed, the others: ""
key "": 0 of 1000 allowed, the others: "missing_key"
`

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := run(&out); err != nil || out.String() != want {
			t.Errorf("error %v, got\n%swant\n%s", err, out.String(), want)
		}
	})
}
