package storetest

import "github.com/sluice-limiter/sluice/store"

// refundsAtCommit settles all reservations as they are, and refunds what was not
// used.
func refundsAtCommit(b *broken, op store.Op, checks []store.Check) error {
	if op != store.Commit {
		for _, c := range checks {
			if op == store.Reserve {
				b.booked[c.ID] = c.Cost
			}
		}
		return b.good(op, checks)
	}
	whole := append([]store.Check(nil), checks...)
	for i, c := range checks {
		whole[i].Cost = max(c.Cost, b.booked[c.ID])
	}
	err := b.good(op, whole)
	for i := range whole {
		checks[i].Verdict = whole[i].Verdict
		if whole[i].Cost -= checks[i].Cost; err == nil && whole[i].Verdict.Allowed {
			err = b.good(store.Refund, append([]store.Check(nil), whole[i]))
		}
	}
	return err
}
