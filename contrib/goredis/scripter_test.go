package sluicegoredis

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// nowhere is where no server listens. It is no name, because looking one up leaves a
// channel of the bubble in the net package.
const nowhere = "127.0.0.1:1"

// TestNewRefuses: clients by which a limit would not hold are an error.
func TestNewRefuses(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": nowhere}})
	defer ring.Close()
	for _, client := range []redis.UniversalClient{ring, nil} {
		if _, err := New(client); !errors.Is(err, ErrClient) {
			t.Errorf("%T: error %v", client, err)
		}
	}
	single, cluster := redis.NewClient(&redis.Options{Addr: nowhere}), redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nowhere}})
	for _, client := range []redis.UniversalClient{single, cluster} {
		if _, err := New(client); err != nil {
			t.Errorf("%T: %v", client, err)
		}
		_ = client.Close()
	}
}

// slow is a hook that answers when it is told to, whatever the context says: as the
// client does while it reads.
type slow struct {
	entered, release chan struct{}
}

func (slow) DialHook(next redis.DialHook) redis.DialHook { return next }

func (slow) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h slow) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		close(h.entered)
		<-h.release
		cmd.(once).SetVal([]int64{1, 2})
		return nil
	}
}

// slowScripter returns a Scripter whose answers wait for release.
func slowScripter(t *testing.T) (*Scripter, slow) {
	client, hook := redis.NewClient(&redis.Options{Addr: nowhere}), slow{make(chan struct{}), make(chan struct{})}
	t.Cleanup(func() { _ = client.Close() })
	client.AddHook(hook)
	s, err := New(client)
	if err != nil {
		t.Fatal(err)
	}
	return s, hook
}

// TestCancelled: a call returns when its context ends, and not when the client is
// done with it.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, hook := slowScripter(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-hook.entered
			cancel()
			time.Sleep(time.Hour)
			close(hook.release)
		}()
		start := time.Now()
		reply, err := s.Eval(ctx, "return {1, 2}", nil, nil)
		if reply != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v and error %v", reply, err)
		}
		if late := time.Since(start); late > 0 {
			t.Errorf("returned %v after it was cancelled", late)
		}
		if _, err := s.Eval(ctx, "return {1, 2}", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: error %v", err)
		}
		<-hook.release
	})
}

// TestAnswered: an answer that comes in time is returned, with and without a context
// that may end.
func TestAnswered(t *testing.T) {
	may, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ctx := range []context.Context{may, context.Background()} {
		s, hook := slowScripter(t)
		close(hook.release)
		reply, err := s.EvalSha(ctx, "abc", []string{"k"}, []string{"a"})
		if len(reply) != 2 || err != nil {
			t.Errorf("got %v and error %v", reply, err)
		}
	}
}
