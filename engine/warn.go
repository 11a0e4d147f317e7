package engine

import "sync/atomic"

// kind tells warnings apart, so that one does not hide another.
type kind int

const (
	storeFailed kind = iota
	manyWaiters
	manyOfKey
	renewalFailed
	kinds
)

// warned is when each kind of warning was last given, in µs.
type warned [kinds]atomic.Int64

// warn tells the log, at most once a second of each kind.
func (e *Engine) warn(k kind, message string, args ...any) {
	now, last := e.real.Now(), e.warned[k].Load()
	if (last == 0 || now-last >= 1e6) && e.warned[k].CompareAndSwap(last, now) {
		e.logger.Warn(message, args...)
	}
}
