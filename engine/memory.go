package engine

import "github.com/sluice-limiter/sluice/store/memstore"

// Memory returns the figures of all stores that the engine made for itself, added up:
// those of the scopes instance and split, and the cluster's if none was given. See
// [MaxMemory].
func (e *Engine) Memory() memstore.Stats {
	var sum memstore.Stats
	for _, mem := range e.places.memory {
		s := mem.Stats()
		sum.Keys += s.Keys
		sum.Bytes += s.Bytes
		sum.Evicted += s.Evicted
		sum.Forgotten += s.Forgotten
		sum.Reservations += s.Reservations
	}
	return sum
}
