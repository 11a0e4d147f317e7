// Package algo is the specification of every algorithm of sluice: pure
// functions from (spec, state, now, cost, maxWait) to a verdict.
//
// Nothing here reads a clock, takes a lock, keeps a map or does I/O, so the
// same arithmetic serves the in-process store, the simulator and replay, and
// can be mirrored statement by statement elsewhere.
//
// # Units
//
// Instants and durations are integers: microseconds since 1970 and
// microseconds. All arithmetic is exact. The one exception is the warm-up
// algorithm, whose integral is quadratic: it uses float64 with a fixed order of
// operations.
//
// # The life of a state
//
// The zero [State] is a key that was never seen. Whatever the algorithm, a
// state is as good as zero once now is later than State.T, so a store may then
// forget it without loss.
//
// [Check] only looks. [Spend] only writes. [Decide] is Check and then, if the
// verdict allows it, Spend. A denial spends nothing; it writes only when the
// clock went back or the limit shrank and the state lay further ahead than the
// limit can ever put it (see [Cut]).
package algo
