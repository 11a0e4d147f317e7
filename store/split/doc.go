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
// That is what holds at every instant. But nobody takes over what another has
// spent: who joins starts with an empty share, and who leaves takes along what it
// spent. So over a window (or, for a bucket, over the time in which its burst fills
// up) the fleet admits at most the sum of the shares of everybody who lived in it,
// each with the greatest that it had. If nobody joins or leaves, that is the limit;
// if the window is short beside the life of an instance, hardly more. With a limit of
// 840 a day,
//
//   - a fleet that grows from 1 to 8 within the day, one after the other, admits up
//     to 840 + 840/2 + … + 840/8 = 2,283;
//   - one of 8 that is deployed anew twice admits up to 3·840 = 2,520.
//
// Limits over hours or days belong in a store that all share.
//
// A member that cannot reach the registry keeps the share that it last knew. The
// others forget it after Hold, and divide what is its share among themselves:
// until it is back, the fleet may admit that one share more. A member that has never
// reached it goes by Membership.Assume, as the first of so many: by default it is
// alone and has the whole limit. Set it to the least number of instances that you
// run, so that a fleet that starts without its registry does not admit a multiple.
//
// When somebody joins or leaves, ranks move, and until the next beat two members may
// have the same one. Then what is left over when the limit is divided may be given
// twice, or to nobody: fewer than one per member.
//
// Windows are told apart by the wall clock of each instance: they agree on them
// as far as their clocks do.
package split
