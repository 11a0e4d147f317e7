package frame

import "testing"

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Ratio(3, 2, true), "1.50"},
		{Ratio(3, 0, true), "-"},
		{Ratio(3, 2, false), "-"},
		{Percent(0.5), "50"},
		{Percent(0.000123), "0.012"},
		{Percent(0), "0"},
		{Join("a", ""), "a"},
		{Join("", "b"), "b"},
		{Join("a", "b"), "a; b"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	for want, v := range map[float64][]float64{0: nil, 2: {3, 1, 2}, 2.5: {4, 1, 2, 3}} {
		if got := Median(v); got != want {
			t.Errorf("median of %v is %v, want %v", v, got, want)
		}
	}
	var c Config
	if !c.Runs("anything") {
		t.Error("without a pattern a case does not run")
	}
	if err := Pattern(&c.Cases)("("); err == nil {
		t.Error("a broken pattern is no error")
	}
	if err := Pattern(&c.Cases)("^a"); err != nil || !c.Runs("ab") || c.Runs("ba") {
		t.Errorf("pattern ^a: %v, ab %v, ba %v", err, c.Runs("ab"), c.Runs("ba"))
	}
}
