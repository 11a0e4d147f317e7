package failover

import "github.com/sluice-limiter/sluice/store"

var _ store.Spread = (*Store)(nil)

// Calls implements [store.Spread]: as many as the main store needs.
func (s *Store) Calls(checks []store.Check) int { return store.Calls(s.main, checks) }
