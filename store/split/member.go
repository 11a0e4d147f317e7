package split

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Registry knows who lives. Implementations are safe for concurrent use and
// return when the context ends.
type Registry interface {
	// Beat says that id lives in group, until hold is over or it beats again. It
	// returns how many do, and the rank of id among them, from 0.
	Beat(ctx context.Context, group, id string, hold time.Duration) (rank, live int, err error)
	// Leave says that id lives no more.
	Leave(ctx context.Context, group, id string) error
}

// Membership says as whom an instance joins.
type Membership struct {
	Group  string        // who divides limits with each other; the default is "sluice"
	ID     string        // tells the instances apart; the default is random
	Hold   time.Duration // after how long without a beat an instance counts as dead; the default is 3 s
	Assume int           // how many live, until the registry has first been reached; the default is 1: this one has it all
	Logger *slog.Logger  // hears of changes and of a registry that cannot be reached
}

// DefaultHold is after how long without a beat an instance counts as dead.
const DefaultHold = 3 * time.Second

// Faults of a [Membership] or of a [Registry].
var (
	ErrHold   = errors.New("split: hold must be 3ms to a day")
	ErrAssume = errors.New("split: the assumed number of instances must be 1 to 1e6")
	ErrRank   = errors.New("split: the registry's answer makes no sense")
)

const maxLive = 1_000_000

// Member is an instance that joined a group.
type Member struct {
	Membership
	registry Registry
	share    atomic.Uint64 // rank and live, 32 bits each
	missed   bool          // the last beat failed; belongs to who beats
	stop     context.CancelFunc
	done     chan struct{}
	leaving  sync.Once
	left     error
}

// Join makes this instance a member of the group. A registry that cannot be
// reached is no error: the member goes on trying, and until then there are as
// many as Membership.Assume says. ctx is for the first attempt only; a member
// ends with [Member.Close].
func Join(ctx context.Context, registry Registry, as Membership) (*Member, error) {
	if as.Hold == 0 {
		as.Hold = DefaultHold
	}
	if as.Hold < 3*time.Millisecond || as.Hold > 24*time.Hour {
		return nil, fmt.Errorf("%w: %v", ErrHold, as.Hold)
	}
	if as.Assume == 0 {
		as.Assume = 1
	}
	if as.Assume < 1 || as.Assume > maxLive {
		return nil, fmt.Errorf("%w: %d", ErrAssume, as.Assume)
	}
	if as.Group == "" {
		as.Group = "sluice"
	}
	if as.ID == "" {
		as.ID = rand.Text()
	}
	if as.Logger == nil {
		as.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Member{Membership: as, registry: registry, done: make(chan struct{})}
	m.share.Store(pack(0, as.Assume))
	next := time.NewTimer(m.pause())
	m.beat(ctx)
	ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	go m.run(ctx, next)
	return m, nil
}

func pack(rank, live int) uint64 { return uint64(rank)<<32 | uint64(live) }

// Share returns how many instances live, as far as this one knows, and which of
// them it is, from 0.
func (m *Member) Share() (rank, live int) {
	s := m.share.Load()
	return int(s >> 32), int(s & (1<<32 - 1))
}

// run beats until the member is closed. The pause runs from the start of a beat, so
// that one without an answer does not put off the next.
func (m *Member) run(ctx context.Context, next *time.Timer) {
	defer close(m.done)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			next.Reset(m.pause())
			m.beat(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// pause is a quarter of the hold time, give or take a tenth, so that instances that
// started together do not beat together. Two beats may be lost: the third comes after
// at most 3·1.1/4 of the hold time, and is answered within a sixth of it, or lost too.
func (m *Member) pause() time.Duration {
	quarter := m.Hold / 4
	return quarter - quarter/10 + mathrand.N(quarter/5+1)
}

// patience is how long a beat may take.
func (m *Member) patience() time.Duration { return m.Hold / 6 }

// beat says that this instance lives. Without an answer it keeps its share.
func (m *Member) beat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, m.patience())
	defer cancel()
	rank, live, err := m.registry.Beat(ctx, m.Group, m.ID, m.Hold)
	if err == nil && (rank < 0 || rank >= live || live > maxLive) {
		err = fmt.Errorf("%w: rank %d of %d", ErrRank, rank, live)
	}
	if err != nil {
		if !m.missed && !errors.Is(err, context.Canceled) {
			_, live = m.Share()
			m.Logger.Warn("sluice: cannot reach the other instances, going on with the last known number",
				"group", m.Group, "live", live, "error", err)
		}
		m.missed = true
		return
	}
	m.missed = false
	if was := m.share.Swap(pack(rank, live)); was != pack(rank, live) {
		m.Logger.Info("sluice: instances changed", "group", m.Group, "rank", rank, "live", live)
	}
}

// Close leaves the group, so that the others take over this instance's share.
func (m *Member) Close() error {
	m.leaving.Do(func() {
		m.stop()
		<-m.done
		ctx, cancel := context.WithTimeout(context.Background(), m.Hold/3)
		defer cancel()
		m.left = m.registry.Leave(ctx, m.Group, m.ID)
	})
	return m.left
}
