package engine_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// TestChangesAreLogged: who changes what is decided leaves a trace.
func TestChangesAreLogged(t *testing.T) {
	a, b := perUser("a", "1/s"), perUser("b", "1/s")
	var many []rule.Rule
	for i := range 25 {
		many = append(many, perUser(fmt.Sprint("r", i), "1/s"))
	}
	var log bytes.Buffer
	plain := slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	e := open(t, compile(t, a, b), nil, engine.WithLogger(slog.New(plain)))
	swap := func(c rule.Config) func() {
		return func() {
			t.Helper()
			if err := e.Swap(compileConfig(t, c)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const swapped = `level=INFO msg="sluice: the rules were swapped" rules=`
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"nothing", swap(rule.Config{Rules: []rule.Rule{b, a}}), swapped + "2\n"},
		{"changed", swap(rule.Config{Rules: []rule.Rule{a, mode(b, rule.Shadow)}}), swapped + "2 changed=b\n"},
		{"all", swap(rule.Config{Default: rule.Deny, Rules: []rule.Rule{perUser("a", "2/s"), perUser("c", "1/s")}}), swapped + "2 default=deny added=c removed=b changed=a\n"},
		{"paths", swap(rule.Config{Paths: rule.Paths{FoldCase: true}}), swapped + "0 default=allow paths=changed removed=\"a, c\"\n"},
		{"many", swap(rule.Config{Rules: many}), swapped + "25 paths=changed added=\"r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19 and 5 more\"\n"},
		{"refused", func() { _ = e.Swap(nil) }, ""},
		{"shadow", func() { e.ShadowAll(true) }, "level=INFO msg=\"sluice: every rule is turned to shadow, nothing is refused\"\n"},
		{"shadow again", func() { e.ShadowAll(true) }, ""},
		{"back", func() { e.ShadowAll(false) }, "level=INFO msg=\"sluice: the rules are enforced again\"\n"},
	} {
		log.Reset()
		if c.do(); log.String() != c.want {
			t.Errorf("%s:\ngot  %swant %s", c.name, &log, c.want)
		}
	}
}
