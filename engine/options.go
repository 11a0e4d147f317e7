package engine

import (
	"log/slog"
	"time"

	"github.com/sluice-limiter/sluice/store/split"
)

// Option sets up an Engine.
type Option func(*Engine)

// DefaultMaxWaiters is how many requests may wait unless [MaxWaiters] says otherwise.
const DefaultMaxWaiters = 10_000

// WithObserver tells o of every decision. It may be given several times.
func WithObserver(o Observer) Option {
	return func(e *Engine) {
		if o != nil {
			e.observers = append(e.observers, o)
		}
	}
}

// WithLogger sends warnings to l, at most one per second of each kind, and a line for
// every change of the rules.
func WithLogger(l *slog.Logger) Option { return func(e *Engine) { e.logger = l } }

// WithInstance says which of how many instances this is: needed for the scope split,
// and the share by which this instance goes on when the store is down.
func WithInstance(i split.Instance) Option { return func(e *Engine) { e.instance = i } }

// WithClock lets the engine and its own stores take the time from now. A store that
// is given keeps its own clock. Waiting still takes real time.
func WithClock(now func() time.Time) Option { return func(e *Engine) { e.source = now } }

// MaxMemory caps the memory of each store that the engine makes for itself: one for limits
// of scope instance, one for those of scope split, and one for the cluster's if none is
// given. Without it the cap is 256 MiB; less than 512 KiB counts as that.
func MaxMemory(bytes int64) Option { return func(e *Engine) { e.maxMemory = bytes } }

// MaxWaiters bounds how many requests wait at the same time in [Engine.Wait] and
// [Engine.WaitReserve]; [DefaultMaxWaiters] if not given. One key of a rule can have
// a tenth of them. Those beyond are decided at once.
func MaxWaiters(n int) Option { return func(e *Engine) { e.room.most = int64(n) } }
