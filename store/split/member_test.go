package split_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/store/split"
)

// registry is one in memory that can be cut off.
type registry struct {
	mu    sync.Mutex
	until map[string]time.Time
	down  map[string]bool // who cannot reach it; "" stands for all
	wrong bool            // answers nonsense
}

func newRegistry() *registry {
	return &registry{until: map[string]time.Time{}, down: map[string]bool{}}
}

var errDown = errors.New("registry is down")

func (r *registry) Beat(_ context.Context, group, id string, hold time.Duration) (rank, live int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down[""] || r.down[id] {
		return 0, 0, errDown
	}
	if r.wrong {
		return 3, 3, nil
	}
	r.until[group+"/"+id] = time.Now().Add(hold)
	ids := r.live(group)
	return slices.Index(ids, group+"/"+id), len(ids), nil
}

func (r *registry) live(group string) []string {
	var ids []string
	for id, until := range r.until {
		if strings.HasPrefix(id, group+"/") && time.Now().Before(until) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (r *registry) Leave(_ context.Context, group, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down[""] || r.down[id] {
		return errDown
	}
	delete(r.until, group+"/"+id)
	return nil
}

func (r *registry) cut(id string, down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down[id] = down
}

func (r *registry) confuse(wrong bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = wrong
}

func join(t testing.TB, r *registry, as split.Membership) *split.Member {
	t.Helper()
	m, err := split.Join(t.Context(), r, as)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func wantShare(t testing.TB, m *split.Member, rank, live int) {
	t.Helper()
	synctest.Wait()
	if r, l := m.Share(); r != rank || l != live {
		t.Errorf("%s is %d of %d, want %d of %d", m.ID, r, l, rank, live)
	}
}

const (
	hold  = 3 * time.Second
	beat  = hold / 4
	pause = beat + beat/10 // the longest time between two beats
)

// TestMember: joins and leaves are felt at the next beat, a crash when hold is over,
// and a group knows nothing of another.
func TestMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry()
		a := join(t, r, split.Membership{ID: "a"})
		join(t, r, split.Membership{ID: "x", Group: "others"})
		wantShare(t, a, 0, 1)
		b, c := join(t, r, split.Membership{ID: "b"}), join(t, r, split.Membership{ID: "c"})
		wantShare(t, b, 1, 2)
		wantShare(t, c, 2, 3)
		time.Sleep(pause)
		wantShare(t, a, 0, 3)
		wantShare(t, b, 1, 3)
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(pause)
		wantShare(t, b, 0, 2)
		wantShare(t, c, 1, 2)
		r.cut("b", true) // as good as dead
		time.Sleep(hold + pause)
		wantShare(t, c, 0, 1)
		wantShare(t, b, 0, 2)
		r.cut("b", false)
		time.Sleep(pause)
		wantShare(t, b, 0, 2)
	})
}

// TestMemberWithoutRegistry: the last share is kept, the log is told once, and a
// member that never reached anybody goes by what it was told.
func TestMemberWithoutRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, log := newRegistry(), &bytes.Buffer{}
		a := join(t, r, split.Membership{ID: "a", Logger: slog.New(slog.NewTextHandler(log, nil))})
		join(t, r, split.Membership{ID: "b"})
		time.Sleep(pause)
		r.cut("", true)
		c := join(t, r, split.Membership{ID: "c", Assume: 7})
		time.Sleep(time.Hour)
		wantShare(t, a, 0, 2)
		wantShare(t, c, 0, 7)
		if n := strings.Count(log.String(), "cannot reach"); n != 1 {
			t.Errorf("%d warnings:\n%s", n, log)
		}
		r.cut("", false)
		r.confuse(true)
		time.Sleep(pause)
		wantShare(t, a, 0, 2)
		r.confuse(false)
		time.Sleep(2 * pause) // once to say so, once to hear of the others
		wantShare(t, c, 2, 3)
		r.cut("", true)
		if err := c.Close(); !errors.Is(err, errDown) || !errors.Is(c.Close(), errDown) {
			t.Errorf("closed with %v", err)
		}
		a.Close() // and nothing is left that beats, or the bubble would not end
	})
}

// TestMembershipFaults: what makes no sense is refused.
func TestMembershipFaults(t *testing.T) {
	for _, c := range []struct {
		as   split.Membership
		want error
	}{
		{split.Membership{Hold: -1}, split.ErrHold},
		{split.Membership{Hold: time.Millisecond}, split.ErrHold},
		{split.Membership{Hold: 25 * time.Hour}, split.ErrHold},
		{split.Membership{Assume: -1}, split.ErrAssume},
		{split.Membership{Assume: 2_000_000}, split.ErrAssume},
	} {
		if _, err := split.Join(t.Context(), newRegistry(), c.as); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.as, err, c.want)
		}
	}
}
