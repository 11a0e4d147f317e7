package main

import (
	"strings"
	"testing"
	"testing/synctest"
)

const want = `192.0.2.1:1111: 200, RateLimit: "default";r=2;t=20, Retry-After: ""
192.0.2.1:2222: 200, RateLimit: "default";r=1;t=20, Retry-After: ""
192.0.2.1:3333: 200, RateLimit: "default";r=0;t=20, Retry-After: ""
192.0.2.1:4444: 429, RateLimit: "default";r=0;t=20, Retry-After: "20"
192.0.2.2:1111: 200, RateLimit: "default";r=2;t=20, Retry-After: ""
`

func TestShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if err := show(limited(), &out); err != nil || out.String() != want {
			t.Errorf("error %v, got\n%swant\n%s", err, out.String(), want)
		}
	})
}
