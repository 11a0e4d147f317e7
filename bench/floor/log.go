package floor

import (
	"sync/atomic"
	"time"
)

// log is a sliding log. With its identity it takes a cache line.
type log struct {
	lock
	used int64 // entries written so far
	ring int64 // the number of its ring, from 1 on
	_    [3]int64
}

// LogTable is a flat table of sliding logs, each with a ring of as many instants
// as it admits: the oldest one lies where the newest goes.
type LogTable struct {
	flat[log]
	count, period int64
	rings         []int64
	last          atomic.Int64
}

// NewLogTable returns a table of logs that admit count per period.
func NewLogTable(count int64, period time.Duration, keys int) *LogTable {
	return &LogTable{
		flat: newFlat[log](keys), count: count, period: period.Microseconds(),
		rings: make([]int64, int64(keys+1)*count),
	}
}

// Allow writes an entry into the key's log if there is room.
func (t *LogTable) Allow(key string) bool {
	l := t.find(t.identity(key))
	l.hold()
	if l.ring == 0 {
		l.ring = t.last.Add(1)
	}
	allowed := t.take(l, t.micros())
	l.release()
	return allowed
}

func (t *LogTable) take(l *log, now int64) bool {
	entry := &t.rings[l.ring*t.count+l.used%t.count]
	if l.used >= t.count && *entry > now-t.period {
		return false
	}
	*entry = now
	l.used++
	return true
}
