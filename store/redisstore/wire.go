package redisstore

import (
	"context"
	"strings"
	"sync"
	"time"
)

// wire sends calls to Redis.
type wire struct {
	scripter Scripter
	names    namer
	now      func() time.Time // nil: the server's clock
	load     load
}

// direct is the sender that makes one call per decision.
type direct struct{ *wire }

func (s direct) send(ctx context.Context, d *decision) error {
	if err := s.decide(ctx, []*decision{d}); err != nil {
		return err
	}
	return d.err
}

// decide carries out decisions, one after the other and at one instant, with one
// call. The error is that of the call; a decision that failed by itself has its own.
func (w *wire) decide(ctx context.Context, decisions []*decision) error {
	now := int64(-1)
	if w.now != nil {
		now = w.now().UnixMicro()
	}
	c, err := encode(&w.names, now, decisions)
	if err != nil {
		return err
	}
	reply, err := w.run(ctx, c)
	if err != nil {
		return err
	}
	return decode(&w.names, reply, decisions)
}

// pauses are how long we wait before asking again a server that is not ready: while
// a slot moves or a replica becomes the master. Altogether they are shorter than
// a usual deadline.
var pauses = [...]time.Duration{time.Millisecond, 4 * time.Millisecond, 16 * time.Millisecond}

// run runs the script. It is sent again only after answers that prove that it did
// not run.
func (w *wire) run(ctx context.Context, c call) ([]int64, error) {
	for i := 0; ; i++ {
		reply, err := w.runOnce(ctx, c)
		if err == nil || i == len(pauses) || !unready(err) {
			return reply, explain(err)
		}
		timer := time.NewTimer(pauses[i])
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// loadTries is how often somebody else may load the script for us. Every node of a
// cluster has to be told.
const loadTries = 8

// runOnce runs the script by its name, or, if the server does not know it, by its
// text. That is long, so of many callers one sends it, and the others wait and
// name it again: the server has said that it did not run theirs.
func (w *wire) runOnce(ctx context.Context, c call) ([]int64, error) {
	s := script()
	for tries := 0; ; tries++ {
		reply, err := w.scripter.EvalSha(ctx, s.sha, c.keys, c.args)
		if err == nil || !strings.HasPrefix(err.Error(), "NOSCRIPT") {
			return reply, err
		}
		loaded, first := w.load.enter()
		if first || tries == loadTries {
			reply, err = w.scripter.Eval(ctx, s.text, c.keys, c.args)
			if first {
				w.load.leave()
			}
			return reply, err
		}
		select {
		case <-loaded:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// load lets one caller at a time send the script.
type load struct {
	mu     sync.Mutex
	loaded chan struct{} // closed when it is; nil if nobody sends it
}

func (l *load) enter() (loaded <-chan struct{}, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loaded != nil {
		return l.loaded, false
	}
	l.loaded = make(chan struct{})
	return nil, true
}

func (l *load) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.loaded)
	l.loaded = nil
}

// unready tells the answers of a server that has not run the script and may do so
// soon.
func unready(err error) bool {
	word, _, _ := strings.Cut(err.Error(), " ")
	switch word {
	case "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "LOADING", "READONLY":
		return true
	}
	return strings.Contains(err.Error(), "-READONLY ") // of a command in the script, before Redis 7
}
