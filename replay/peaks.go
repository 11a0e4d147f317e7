package replay

import "time"

// peakWindows are the lengths over which peaks are told, in seconds.
var peakWindows = [...]uint32{1, 10, 60, 3600}

func windowLength(i int) time.Duration { return time.Duration(peakWindows[i]) * time.Second }

// touch counts a request of a key in the second now.
func (r *keyRecord) touch(now uint32) {
	r.requests++
	for i, length := range peakWindows {
		if now/length != r.last/length {
			r.counts[i] = 0
		}
		r.counts[i]++
		r.peaks[i] = max(r.peaks[i], r.counts[i])
	}
	r.last = now
}

// peakCounter finds the busiest windows of all requests.
type peakCounter struct {
	last   uint32
	counts [len(peakWindows)]int64
	peaks  [len(peakWindows)]int64
	at     [len(peakWindows)]uint32
}

func (p *peakCounter) touch(now uint32) {
	for i, length := range peakWindows {
		if now/length != p.last/length {
			p.counts[i] = 0
		}
		if p.counts[i]++; p.counts[i] > p.peaks[i] {
			p.peaks[i], p.at[i] = p.counts[i], now/length*length
		}
	}
	p.last = now
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
