package lease

import (
	"slices"

	"github.com/sluice-limiter/sluice/algo"
)

func (w *world) take(n *node, cost int64) bool {
	_, ok := n.core.pay(w.now+n.skew, cost)
	if ok {
		w.judge.admit(w, cost)
	}
	return ok
}

// hold takes for a decision over several limits that another will deny.
func (w *world) hold(n *node, cost int64) (ok bool) {
	if n.held, ok = n.core.pay(w.now+n.skew, cost); ok {
		n.held.hold()
	}
	return ok
}

func (w *world) undo(n *node) bool {
	n.core.undo(n.held)
	n.held = payment{}
	return true
}

// refund gives back what was spent last, as far as the lease takes it.
func (w *world) refund(n *node, cost int64) bool {
	back := n.core.refund(w.now+n.skew, cost)
	n.core.turn(w.now + n.skew)
	w.judge.refund(w, back)
	return back > 0
}

// reset forgets everything. What is on its way back at this moment is not looked
// at: the store cannot tell it.
func (w *world) reset(n *node) bool {
	n.core.drop(false)
	w.state, w.judge = algo.State{}, judge{}
	w.mail = slices.DeleteFunc(w.mail, func(m mail) bool { return m.give })
	return true
}

func (w *world) direct(cost int64) bool {
	if !algo.Decide(w.scope.plan.spec, &w.state, w.now, cost, 0).Allowed {
		return false
	}
	w.judge.open(w)
	w.judge.admit(w, cost)
	return true
}

func (w *world) send(n *node, want int64) bool {
	n.core.want, n.core.sent = 2, 0 // the size is ours to choose
	n.req, n.sent = n.core.ask(w.now+n.skew, 1, want), true
	return true
}

// lease is the store's part: as much as there is, by halving.
func (w *world) lease(r request) grant {
	p := w.scope.plan.spec
	for amount := r.want; ; amount = max(r.cost, amount/2) {
		v := algo.Decide(p, &w.state, w.now, amount, 0)
		if v.Allowed {
			w.judge.open(w)
			return grant{amount, v, w.now, p.Mark(&w.state)}
		}
		if amount == r.cost {
			return grant{verdict: v, at: w.now}
		}
	}
}

func (w *world) answer(n *node) bool {
	l := n.core.answer(w.now+n.skew, n.req, n.grant)
	if l != nil && w.scope.tamper != nil {
		w.scope.tamper(l)
	}
	n.core.turn(w.now + n.skew)
	n.sent, n.done, n.req, n.grant = false, false, request{}, grant{}
	return true
}

// lose loses the answer, or the request, which may still arrive.
func (w *world) lose(n *node) bool {
	ok := w.orphan(n)
	n.core.fail(w.now + n.skew)
	n.sent, n.done, n.req, n.grant = false, false, request{}, grant{}
	return ok
}

func (w *world) crash(n *node) bool {
	ok := w.orphan(n)
	*n = node{core: &core{plan: w.scope.plan, want: 1}, skew: n.skew}
	return ok
}

// orphan leaves a request on its way to the store, with nobody to hear the
// answer.
func (w *world) orphan(n *node) bool {
	if n.sent && !n.done {
		w.mail = append(w.mail, mail{cost: n.req.want})
	}
	return len(w.mail) <= w.scope.mail
}

// post sends what may be given back.
func (w *world) post(used []leftover) bool {
	for _, u := range used {
		w.mail = append(w.mail, mail{true, u.unused, u.lot.at, u.lot.mark})
	}
	return len(w.mail) <= w.scope.mail
}

func (w *world) deliver(i int) bool {
	m := w.mail[i]
	w.mail = slices.Delete(w.mail, i, i+1)
	if m.give {
		algo.Return(w.scope.plan.spec, &w.state, w.now, m.cost, m.at, m.mark, algo.Uncounted)
	} else {
		w.lease(request{cost: 1, want: m.cost})
	}
	return true
}

func (w *world) tick() bool {
	w.now += tick
	w.judge.pass(w)
	return true
}
