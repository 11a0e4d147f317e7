package replay

import "time"

// peakWindows are the lengths over which peaks are told, in seconds.
var peakWindows = [...]uint32{1, 10, 60, 3600}

// windowsAt returns in which window of each length a second lies. The lengths stand here
// once more because a division by a constant costs a tenth of another.
func windowsAt(second uint32) [len(peakWindows)]uint32 {
	return [...]uint32{second, second / 10, second / 60, second / 3600}
}

func windowLength(i int) time.Duration { return time.Duration(peakWindows[i]) * time.Second }

// touch counts a request of a key in the second now.
func (r *keyRecord) touch(now uint32) {
	r.requests++
	if now != r.last {
		before, at := windowsAt(r.last), windowsAt(now)
		for i := range at {
			if at[i] != before[i] {
				r.counts[i] = 0
			}
		}
		r.last = now
	}
	for i := range r.counts {
		r.counts[i]++
		r.peaks[i] = max(r.peaks[i], r.counts[i])
	}
}

// peakCounter finds the busiest windows of all requests.
type peakCounter struct {
	last   uint32
	counts [len(peakWindows)]int64
	peaks  [len(peakWindows)]int64
	at     [len(peakWindows)]uint32
}

func (p *peakCounter) touch(now uint32) {
	if now != p.last {
		before, at := windowsAt(p.last), windowsAt(now)
		for i := range at {
			if at[i] != before[i] {
				p.counts[i] = 0
			}
		}
		p.last = now
	}
	for i := range p.counts {
		if p.counts[i]++; p.counts[i] > p.peaks[i] {
			p.peaks[i], p.at[i] = p.counts[i], now/peakWindows[i]*peakWindows[i]
		}
	}
}

// worst keeps the minutes in which most was refused.
type worst struct {
	minute uint32
	now    Moment
	list   []Moment // most refused first
}

// maxWorst minutes are kept.
const maxWorst = 5

// touch counts a request of a rule.
func (w *worst) touch(now uint32, start int64, denied bool) {
	if minute := now / 60; minute != w.minute || w.now.Requests == 0 {
		w.close()
		w.minute = minute
		w.now = Moment{At: instant(start + int64(minute)*60e6), Over: Seconds(time.Minute)}
	}
	w.now.Requests++
	if denied {
		w.now.Denied++
	}
}

// close puts the minute that ends into the list.
func (w *worst) close() {
	if w.now.Denied == 0 {
		return
	}
	at := len(w.list)
	for at > 0 && w.list[at-1].Denied < w.now.Denied {
		at--
	}
	if at == maxWorst {
		return
	}
	if len(w.list) < maxWorst {
		w.list = append(w.list, Moment{})
	}
	copy(w.list[at+1:], w.list[at:])
	w.list[at] = w.now
}
