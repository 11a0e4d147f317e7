package resp

import (
	"context"
	"errors"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/server/audit"
	"github.com/sluice-limiter/sluice/store"
)

// check answers SLUICE.CHECK rule [name=value ...] [COST n]: it decides, and spends.
func check(ctx context.Context, d *desk) {
	if !d.prepare() {
		return
	}
	decision, err := d.door.options.Engine.Check(ctx, d.ask.request)
	d.decided(&decision, err)
}

// peek answers SLUICE.PEEK: it decides, and spends nothing.
func peek(ctx context.Context, d *desk) {
	if !d.prepare() {
		return
	}
	decision, err := d.door.options.Engine.Peek(ctx, d.ask.request)
	d.decided(&decision, err)
}

// reset answers SLUICE.RESET: it forgets what was spent.
func reset(ctx context.Context, d *desk) {
	if !d.prepare() {
		return
	}
	err := d.door.options.Engine.Reset(ctx, d.ask.request)
	if note := d.door.options.Note; note != nil {
		note("resp from "+d.from, audit.ActionReset, d.ask.request, err)
	}
	if err != nil {
		d.undecided(err)
		return
	}
	d.ok()
}

// prepare makes a request of the arguments. If it cannot, the client is told why.
func (d *desk) prepare() bool {
	problem := d.ask.read(d.args[2:])
	if problem != "" {
		d.fail("ERR " + problem)
		return false
	}
	rules := d.door.rules()
	n := d.named(rules)
	if n == nil {
		d.fail("ERR no rule is called '" + shown(d.args[1]) + "'")
		return false
	}
	if d.ask.complete(n) && n.sure.fits(&d.ask) {
		return true
	}
	if problem = d.ask.misses(rules.set, n); problem != "" {
		d.fail("ERR rule '" + n.Name + "' does not apply: " + shownAll(problem))
		return false
	}
	return true
}

// milliseconds rounds up, so that who comes back after them is not too early.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// undecided words an error of the engine.
func (d *desk) undecided(err error) {
	switch {
	case errors.Is(err, store.ErrKey):
		d.fail("ERR what the key of the rule is made of is too long; shorten it, or let the rule hash its key")
	case errors.Is(err, store.ErrOp), errors.Is(err, store.ErrTooMany):
		d.fail("ERR not supported by the limits of this request: " + shownAll(err.Error()))
	case errors.Is(err, sluice.ErrUnavailable):
		d.fail("ERR the store cannot be asked; try again later")
	default:
		d.fail("ERR could not be decided: " + shownAll(err.Error()))
	}
}
