package redisstore

import "github.com/sluice-limiter/sluice/store"

var _ store.Spread = (*Store)(nil)

// Calls implements [store.Spread]: in a cluster there is one call for each slot that a
// key lies in.
func (s *Store) Calls(checks []store.Check) int {
	if !s.spread || len(checks) == 0 {
		return 1
	}
	return len(s.parts(store.Spend, checks))
}
