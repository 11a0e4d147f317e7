// Package split divides a limit among the instances that live.
//
// Every instance of a fleet joins a group with [Join] and from then on says
// regularly that it lives; so each knows how many they are and which of them it
// is, and that follows the scaling of the fleet by itself. A [Store] enforces
// this instance's exact share of every limit in this process, without asking
// anybody: [algo.Spec.Share] says what that is.
//
// # How exact it is
//
// Every member divides by the number that it heard of at its last beat. Whoever
// lives, and has lived for longer than a beat, was counted in all of those
// numbers, so their shares add up to at most the limit. Only those who joined
// since the last beat may come on top, each with at most the share of one more.
// Who leaves, or dies, leaves its share unused until the others hear of it: at
// the next beat, or when Hold is over.
//
// A member that cannot reach the registry keeps the share that it last knew. The
// others forget it after Hold, and divide what is its share among themselves:
// until it is back, the fleet may admit that one share more.
//
// Windows are told apart by the wall clock of each instance: they agree on them
// as far as their clocks do.
package split
