package engine

import (
	"context"
	"time"
)

// releaseAgain is when permits that were given up are released once more.
const releaseAgain = time.Second

// abandon releases permits that a remote store may have granted without our hearing of it:
// the caller had gone, or the answer came too late and a policy refused instead. Else
// nobody would have them until they expire. It does so at once and once more: a question
// on a connection that was given up may reach the server after the first release.
func (e *Engine) abandon(b *batch, err error) {
	var unheard taken
	refused := err == nil && b.refuses()
	for i := range b.checks {
		if c := &b.checks[i]; err != nil || c.Degraded && (refused || !c.Verdict.Allowed) {
			unheard.add(b, i)
		}
	}
	if len(unheard.checks) == 0 || err == nil && e.places.down() {
		return // nothing was asked of the server
	}
	scope := b.scope
	release := func() { e.release(context.Background(), &unheard, scope) }
	go func() {
		release()
		time.AfterFunc(releaseAgain, release)
	}()
}
