package lint

import "testing"

func TestClock(t *testing.T) {
	called := "package x\n\nimport \"time\"\n\nvar start = time.Now()\n"
	expect(t, tree{
		"internal/clock/clock.go":  called,
		"examples/limiter/main.go": called,
		"limiter_test.go":          called,
		"limiter.go":               called,
		"internal/clock/coarse.go": called,
		"store/value.go":           "package store\n\nimport \"time\"\n\nvar now func() time.Time = time.Now\n",
		"store/renamed.go":         "package store\n\nimport clk \"time\"\n\nfunc f() clk.Time {\n\treturn (clk.Now)()\n}\n",
		"store/dot.go":             "package store\n\nimport . \"time\"\n\nvar start = Now()\n",
	},
		`internal/clock/coarse.go:5: time.Now outside the files that may read the clock`,
		`limiter.go:5: list this file in internal/lint/table.go`,
		`store/dot.go:3: a dot import of time`,
		`store/renamed.go:6: time.Now outside the files`,
		`store/value.go:5: time.Now outside the files`,
	)
}

func TestClockLeavesOthersAlone(t *testing.T) {
	expect(t, tree{
		"limiter.go": "package sluice\n\nimport \"time\"\n\n" +
			"type clock struct{ Now func() time.Time }\n\n" +
			"func f(c clock, base time.Time) time.Duration { return c.Now().Sub(base) + time.Since(base) }\n",
		"other.go": "package sluice\n\nvar time clock\n\nvar started = time.Now()\n",
	})
}
