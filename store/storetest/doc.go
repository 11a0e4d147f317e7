// Package storetest proves that a store keeps the contract of package store.
// Whoever writes one runs everything with one line:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t testing.TB, now func() time.Time) store.Store { return New(now) })
//	}
//
// It plays the scripts of algotest; checks properties, judged by an oracle that
// sees only what was admitted; and sends random streams to the store and to
// algotest.Model, whose answers must be equal one for one. Random parts log their
// seed; SLUICE_SEED repeats them and SLUICE_SOAK makes them long.
package storetest
