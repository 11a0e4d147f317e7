package algo

// The sliding log: exact. More[0] is the number of entries at the front that
// have left; after it come the entries, oldest first, each an instant and the
// running total before it. F is the total. So the cost inside any trailing
// window is one subtraction after one binary search. T is the instant at which
// the newest entry leaves the longest window.

func (p *Spec) compileLog() error {
	if len(p.Windows) == 0 || len(p.Windows) > 255 {
		return ErrCount
	}
	if p.LogMax == 0 {
		p.LogMax = MaxLog
	}
	p.most = MaxCount
	for _, w := range p.Windows {
		if w.Count < 1 || w.Count > MaxCount {
			return ErrCount
		}
		if w.Period < 1 || w.Period > MaxSpan {
			return ErrPeriod
		}
		if w.Count > p.LogMax {
			return ErrLog
		}
		p.most = min(p.most, w.Count)
		p.longest = max(p.longest, w.Period)
	}
	return nil
}

// entries is the log without those that have left.
type entries []int64

func (s *State) entries() entries {
	if len(s.More) == 0 {
		return nil
	}
	return s.More[1+2*s.More[0]:]
}

func (e entries) len() int           { return len(e) / 2 }
func (e entries) at(i int) int64     { return e[2*i] }
func (e entries) before(i int) int64 { return e[2*i+1] }

// after returns the first entry that was made after t.
func (e entries) after(t int64) int {
	if len(e) == 0 || e.at(0) > t { // most often none has left, which needs no search
		return 0
	}
	lo, hi := 1, e.len()
	for lo < hi {
		if mid := (lo + hi) / 2; e.at(mid) > t {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// reaching returns the first entry with at least total before it.
func (e entries) reaching(total int64) int {
	lo, hi := 0, e.len()
	for lo < hi {
		if mid := (lo + hi) / 2; e.before(mid) >= total {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// used returns what lies inside the trailing period.
func (e entries) used(total, now, period int64) int64 {
	if i := e.after(now - period); i < e.len() {
		return total - e.before(i)
	}
	return 0
}

func (p *Spec) checkLog(v *Verdict, s *State, now, asked, cost int64) {
	e := s.entries()
	v.Allowed, v.X = true, maxInt64
	for i, w := range p.Windows {
		left := w.Count - e.used(s.F, now, w.Period)
		if left < v.X && v.Allowed {
			v.Window = uint8(i)
		}
		v.X = min(v.X, left)
		if asked <= left {
			continue
		}
		// The entry before the first that may stay has to leave.
		last := e.at(e.reaching(s.F+asked-w.Count) - 1)
		if retry := min(last, now) + w.Period - now; v.Allowed || retry > v.Y {
			v.Allowed, v.Y, v.Window = false, retry, uint8(i)
		}
	}
	if v.Allowed && cost > 0 {
		v.X -= cost
		v.Z = p.longest
	} else if n := e.len(); n > 0 && e.at(n-1) > now-p.longest {
		v.Z = min(e.at(n-1), now) + p.longest - now
	}
}

func (p *Spec) spendLog(s *State, now, cost int64) {
	p.trimLog(s, now)
	clampLog(s.entries(), now)
	s.More = append(s.More, now, s.F)
	s.F = addCount(s.F, cost)
	s.T = now + p.longest
}

// trimLog drops the entries that no window holds any more, and uses their room
// again once it is half of all.
func (p *Spec) trimLog(s *State, now int64) {
	if len(s.More) == 0 {
		s.More = append(make([]int64, 0, 9), 0)
	}
	e := s.entries()
	left := e.after(now - p.longest)
	if left == e.len() {
		s.More, s.F = s.More[:1], 0
		s.More[0] = 0
		return
	}
	s.More[0] += int64(left)
	if s.F > MaxTotal/2 || len(s.More)+2 > cap(s.More) && 4*s.More[0] >= int64(len(s.More)) {
		s.compactLog()
	}
}

// compactLog moves the entries that are still held to the front and lets the
// running totals start from zero again.
func (s *State) compactLog() {
	e := s.entries()
	base := e.before(0)
	n := copy(s.More[1:], e)
	s.More = s.More[:1+n]
	s.More[0] = 0
	for i := 2; i < len(s.More); i += 2 {
		s.More[i] -= base
	}
	s.F -= base
}

// clampLog brings entries from a future that the clock took back to now.
func clampLog(e entries, now int64) bool {
	n := e.len()
	i := n
	for ; i > 0 && e.at(i-1) > now; i-- {
		e[2*(i-1)] = now
	}
	return i < n
}

func (p *Spec) refundLog(s *State, now, cost int64) {
	e := s.entries()
	first := e.after(now - p.longest)
	if first == e.len() {
		return
	}
	total := max(s.F-cost, e.before(first))
	keep := e.reaching(total) // entries from here on are given back whole
	s.More = s.More[:len(s.More)-2*(e.len()-keep)]
	s.F = total
}

func (p *Spec) cutLog(s *State, now int64) bool {
	if !clampLog(s.entries(), now) {
		return false
	}
	s.T = now + p.longest
	return true
}
