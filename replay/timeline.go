package replay

// timeline counts requests over the whole time in a bounded number of steps: when there
// are too many, some become one.
type timeline struct {
	rung  int
	steps []step
	now   int    // the step of the last request
	from  uint32 // the second in which it begins
}

type step struct{ requests, denied int64 }

// maxSteps of a timeline.
const maxSteps = 240

// widths are how long steps can be, in seconds: each is a multiple of the one before.
var widths = [...]uint32{1, 2, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 31_449_600}

func (t *timeline) width() uint32 { return widths[t.rung] }

func (t *timeline) touch(now uint32, denied bool) {
	if now-t.from >= t.width() || len(t.steps) == 0 {
		t.seek(now)
	}
	s := &t.steps[t.now]
	s.requests++
	if denied {
		s.denied++
	}
}

// seek goes to the step of a second.
func (t *timeline) seek(now uint32) {
	for now/t.width() >= maxSteps && t.rung < len(widths)-1 {
		t.widen()
	}
	t.now = int(now / t.width())
	t.from = uint32(t.now) * t.width()
	for len(t.steps) <= t.now {
		t.steps = append(t.steps, step{})
	}
}

// widen makes one of several steps.
func (t *timeline) widen() {
	t.rung++
	factor := int(widths[t.rung] / widths[t.rung-1])
	wide := make([]step, (len(t.steps)+factor-1)/factor)
	for i, s := range t.steps {
		wide[i/factor].requests += s.requests
		wide[i/factor].denied += s.denied
	}
	t.steps = wide
}
