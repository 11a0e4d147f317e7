package redistest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestServer: a server keeps its data when it is told to, loses it when not, and
// stands still when it is paused.
func TestServer(t *testing.T) {
	kept, lost := Start(t, "appendonly yes", "appendfsync always"), Start(t)
	for _, s := range []*Server{kept, lost} {
		s.Do("SET", "k", "v", "PX", "100000")
		s.Do("SET", "immortal", "v")
		if got := s.Immortal(); !slices.Equal(got, []string{"immortal"}) {
			t.Errorf("immortal keys: %q", got)
		}
		if got := s.Calls()["set"]; got != 2 {
			t.Errorf("%d calls of SET, want 2", got)
		}
		addr := s.Addr()
		s.Kill()
		if s.Ready() {
			t.Error("a killed server answers")
		}
		s.Restart()
		if s.Addr() != addr {
			t.Errorf("a new address: %s, was %s", s.Addr(), addr)
		}
	}
	if got := kept.Do("GET", "k"); got != "v" {
		t.Errorf("a server with an append-only file has %v", got)
	}
	if got := lost.Do("GET", "k"); got != nil {
		t.Errorf("a server without files has %v", got)
	}
}

// TestPause: a paused server accepts connections and does not answer.
func TestPause(t *testing.T) {
	s := Start(t)
	s.Pause()
	answered := make(chan error, 1)
	go func() {
		_, err := s.Try("PING")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("a paused server answered: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	s.Resume()
	if err := <-answered; err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

// TestErrors: what the server refuses keeps its text.
func TestErrors(t *testing.T) {
	s := Start(t)
	_, err := s.Try("EVALSHA", strings.Repeat("0", 40), "0")
	if refused, ok := err.(Error); !ok || !strings.HasPrefix(string(refused), "NOSCRIPT ") {
		t.Errorf("unknown script: %v", err)
	}
	if got := s.Do("EVAL", "return {1, 'two', {err = 'ERR three'}, false}", "0"); !slices.Equal(got.([]any), []any{int64(1), "two", Error("ERR three"), nil}) {
		t.Errorf("list: %#v", got)
	}
}

// TestCluster: three masters serve, and a slot moves with its keys.
func TestCluster(t *testing.T) {
	began := time.Now()
	c := StartCluster(t)
	t.Logf("started in %v", time.Since(began))
	key := "{hot}:1"
	slot := Slot(key)
	if got := c.Masters[0].Do("CLUSTER", "KEYSLOT", key); got != int64(slot) {
		t.Fatalf("slot %d, want %v", slot, got)
	}
	from := c.Owner(slot)
	from.Do("SET", key, "v", "EX", "1000")
	to := c.Masters[0]
	if from == to {
		to = c.Masters[1]
	}
	c.MoveSlot(slot, to)
	if got := to.Do("GET", key); got != "v" {
		t.Errorf("after the move %v", got)
	}
	if _, err := from.Try("GET", key); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		t.Errorf("the old owner says %v", err)
	}
	c.Promote(c.ReplicaOf(c.Masters[2]))
	if got := c.Serving(); !slices.Equal(got, []*Server{c.Masters[0], c.Masters[1], c.Replicas[2]}) {
		t.Errorf("%d masters, or the wrong ones", len(got))
	}
	if got := c.Owner(Slots - 1); got != c.Replicas[2] && to != c.Masters[2] {
		t.Errorf("the last slot is not with the promoted replica")
	}
}

// TestSentinels: the replica becomes the master, by request and by death.
func TestSentinels(t *testing.T) {
	began := time.Now()
	s := StartSentinels(t)
	t.Logf("started in %v", time.Since(began))
	first, second := s.Servers[0], s.Servers[1]
	first.Do("SET", "k", "v", "EX", "1000")
	s.Failover()
	if s.Master() != second {
		t.Fatal("the replica was not promoted")
	}
	if got := second.Do("GET", "k"); got != "v" {
		t.Errorf("the new master has %v", got)
	}
	if _, err := first.Try("SET", "k", "w"); err == nil || !strings.HasPrefix(err.Error(), "READONLY ") {
		t.Errorf("the old master says %v", err)
	}
	t.Logf("failed over after %v", time.Since(began))
	second.Kill()
	s.AwaitFailover(second)
	s.Rejoin(second)
	if s.Master() != first || second.isMaster() {
		t.Error("the replica was not promoted after a death")
	}
	t.Logf("and again after %v", time.Since(began))
}
