package app_test

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/sluice-limiter/sluice/server/app"
)

func TestPercentOfGarbage(t *testing.T) {
	for alive, want := range map[uint64]int{0: 800, 1 << 20: 800, 4 << 20: 800, 8 << 20: 400, 16 << 20: 200, 32 << 20: 100, 1 << 40: 100} {
		if got := app.PercentFor(alive); got != want {
			t.Errorf("%d bytes are alive: %d, want %d", alive, got, want)
		}
	}
}

// percent returns what is in force.
func percent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

func TestRelaxCollector(t *testing.T) {
	before := percent()
	stop := app.RelaxCollector(func(string) (string, bool) { return "50", true })
	if got := percent(); got != before {
		t.Errorf("with a GOGC of somebody: %d", got)
	}
	stop()
	stop = app.RelaxCollector(func(string) (string, bool) { return "", false })
	defer stop()
	if got := percent(); got <= 100 {
		t.Errorf("with a small heap: %d", got)
	}
	large := make([]byte, 64<<20)
	eventually(t, "with a large heap: 100", func() bool {
		runtime.GC()
		return percent() == 100
	})
	runtime.KeepAlive(large)
	eventually(t, "with a small heap again: more", func() bool {
		runtime.GC()
		return percent() > 100
	})
	stop()
	if more := app.AdjustStopped(); more || percent() != before {
		t.Errorf("after it: %d, before it: %d", percent(), before)
	}
}
