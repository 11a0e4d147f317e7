package recommend

import "testing"

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 1: "100 %", 0.5: "50 %", 0.0834: "8.3 %", 0.0001: "0.01 %", 0.001: "0.1 %", 0.000486: "0.049 %", 0.02: "2 %", 1e-9: "0 %"} {
		if got := percent(share); got != want {
			t.Errorf("%g is %q, want %q", share, got, want)
		}
	}
}
