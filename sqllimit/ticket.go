package sqllimit

import "context"

// ticket is what was taken for one statement, its rows or a transaction. The
// zero ticket is of one that needs nothing.
type ticket struct {
	guard   *guard
	cost    int64 // spent at the rates
	permit  permit
	permits []permit // of the second limit in flight and those that follow
}

func (t *ticket) add(p permit) {
	if t.permit == nil {
		t.permit = p
		return
	}
	t.permits = append(t.permits, p)
}

// release gives the permits back. A second time it does nothing.
func (t *ticket) release() {
	if t.permit == nil {
		return
	}
	first, others := t.permit, t.permits
	t.permit, t.permits = nil, nil
	first.Release()
	for _, p := range others {
		p.Release()
	}
}

// undo gives back everything: the statement never reached the database.
func (t *ticket) undo() {
	t.release()
	if t.cost > 0 {
		t.guard.refund(len(t.guard.rates), t.cost)
		t.cost = 0
	}
}

// regain takes the permits again that a store has given to others meanwhile, since
// they could not be renewed. What it cannot get stays lost.
func (t *ticket) regain(ctx context.Context, class Class) error {
	if t.permit == nil || !t.guard.remote {
		return nil
	}
	if err := t.replace(ctx, class, 0, &t.permit); err != nil {
		return err
	}
	for i := range t.permits {
		if err := t.replace(ctx, class, i+1, &t.permits[i]); err != nil {
			return err
		}
	}
	return nil
}

// replace puts another permit of the limit with that number in the place of a lost one.
func (t *ticket) replace(ctx context.Context, class Class, number int, held *permit) error {
	k, ok := (*held).(keyedPermit)
	if !ok || !k.lost() {
		return nil
	}
	p := patience{parent: ctx, max: t.guard.maxWait}
	defer p.end()
	got, err := t.guard.flights[number].acquire(&p)
	if err != nil {
		return p.refusal(class, true, err)
	}
	*held = got
	return nil
}
