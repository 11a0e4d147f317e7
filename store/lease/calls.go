package lease

import "github.com/sluice-limiter/sluice/store"

var _ store.Spread = (*Store)(nil)

// Calls implements [store.Spread]: as many as the inner store needs for what no lease can
// serve.
func (s *Store) Calls(checks []store.Check) int { return store.Calls(s.inner, checks) }
