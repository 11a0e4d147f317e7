package resp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// gate is a store that nobody leaves before it is open, or its context ends.
type gate struct {
	entered chan struct{}
	open    chan struct{}
}

func (g *gate) Take(ctx context.Context, _ store.Op, _ []store.Check) error {
	g.entered <- struct{}{}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// far is a store to which a round trip takes a millisecond. It takes note of the keys.
type far struct {
	near *memstore.Store
	mu   sync.Mutex
	keys []string
	now  int // calls that are under way
	most int
}

func (f *far) Take(ctx context.Context, op store.Op, checks []store.Check) error {
	f.mu.Lock()
	f.keys = append(f.keys, strings.Clone(checks[0].Key))
	f.now++
	f.most = max(f.most, f.now)
	f.mu.Unlock()
	time.Sleep(time.Millisecond)
	f.mu.Lock()
	f.now--
	f.mu.Unlock()
	return f.near.Take(ctx, op, checks)
}

// TestWaves: decisions of a pipeline share round trips, those about one key come one after
// the other, and answers stand in the order of the requests.
func TestWaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{near: memstore.New()}
		door := newDoor(t, func(o *Options) { o.Store, o.Parallel = f, 8 })
		var lines, want strings.Builder
		for i := range 32 {
			fmt.Fprintf(&lines, "CL.THROTTLE k%02d %d 1 100\r\n", i, i)
			fmt.Fprintf(&want, "*5\r\n:0\r\n:%d\r\n:%d\r\n:-1\r\n:100\r\n", i+1, i)
		}
		lines.WriteString("PING\r\n")
		want.WriteString("+PONG\r\n")
		for i := range 3 { // one key
			lines.WriteString("CL.THROTTLE same 9 1 100\r\n")
			fmt.Fprintf(&want, "*5\r\n:0\r\n:10\r\n:%d\r\n:-1\r\n:%d\r\n", 9-i, 100*(i+1))
		}
		start := time.Now()
		if got := talk(t, door, lines.String()+"CL.THROTTLE\r\nQUIT\r\n"); !strings.HasPrefix(got, want.String()) {
			t.Errorf("%q, want %q", got, want.String())
		}
		if took := time.Since(start); took != 7*time.Millisecond || f.most != 8 {
			t.Errorf("it took %v, with up to %d at a time; want 7ms with 8", took, f.most)
		}
	})
}

// TestWaveOfChecks: the same holds for rules; the cost makes no other key.
func TestWaveOfChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(t, func(o *Options) { o.Parallel = 8 })
		got := say(t, door, "SLUICE.CHECK login ip=192.0.2.1\r\nSLUICE.CHECK login ip=192.0.2.1 COST 2\r\nSLUICE.RESET login ip=192.0.2.1\r\nSLUICE.PEEK login ip=192.0.2.1")
		for _, want := range []string{"remaining\r\n:4\r\n", "remaining\r\n:2\r\n", "+OK\r\n", "remaining\r\n:4\r\n"} {
			_, rest, ok := strings.Cut(got, want)
			if !ok {
				t.Fatalf("%q is missing in %q", want, got)
			}
			got = rest
		}
	})
}

// TestResetIsAlone: a budget is forgotten after all decisions before it, and before all
// that follow, also if these have other arguments and are made at the same time.
func TestResetIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{near: memstore.New()}
		door := newDoor(t, func(o *Options) { o.Engine, o.Parallel = newEngine(t, f), 8 })
		say(t, door, "SLUICE.CHECK login ip=192.0.2.1 user=a\r\nSLUICE.RESET login ip=192.0.2.1\r\nSLUICE.PEEK login ip=192.0.2.1 user=b")
		if f.most != 1 || len(f.keys) != 3 {
			t.Errorf("%d of %d at the same time, want 1 of 3", f.most, len(f.keys))
		}
	})
}

// TestWaveFails: a mistake in a decision costs its answer, and nothing else.
func TestWaveFails(t *testing.T) {
	door := newDoor(t, func(o *Options) { o.Store, o.Parallel = faulty{}, 8 })
	got := say(t, door, "CL.THROTTLE a 1 1 1\r\nCL.THROTTLE bad 1 1 1\r\nPING")
	if want := "-Cell error: could not be decided: no\r\n-ERR the server failed; its log says why\r\n+PONG\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	door = newDoor(t, func(o *Options) { o.Store = faulty{} })
	if got := talk(t, door, "CL.THROTTLE bad 1 1 1\r\nPING\r\n"); got != "" {
		t.Errorf("%q, want the end", got)
	}
}

// faulty panics for one key.
type faulty struct{}

func (faulty) Take(_ context.Context, _ store.Op, checks []store.Check) error {
	if strings.HasSuffix(checks[0].Key, ":bad") {
		panic("a mistake")
	}
	return errors.New("no")
}
