// Package failover goes on deciding when a store does not.
//
// A [Store] asks a main store, which is remote, and gives it a deadline. What the
// main store does not decide in time, or fails to, is decided by a policy: by a
// local store that enforces this instance's share, or always yes, or always no.
// A circuit breaker keeps a dead store from costing every request the deadline;
// it opens within a second, asks in the background whether the store is back, and
// closes by itself. While all is well there is nothing in the background. Every call
// has a goroutine of its own, so that it ends in time whatever the store does; a store
// that returns when its context ends does without: it says so itself, as that of Redis
// does, or [Direct] says it.
//
// # What falls under the policy
//
// Failures of the store and the decision's own deadline. Not the faults of the
// input (store.ErrKey and so on): those are the caller's, whatever the state of the
// store. Not store.ErrFull: a store that has no room for another reservation is
// alive, and to let the request pass would be a way round the limit. And not the
// caller's own context: who gives up gets the context's error.
//
// One call can hold limits of several rules: [Store.TakeEach] takes a policy for each.
// A shadow check falls under its policy as any other, and denies nobody; under Deny it
// is not charged. Where Blind is set, its verdict says nothing of the limit.
//
// # What counts against the store
//
// The breaker opens when at least half of the calls fail, for a while.
//
//   - A value that cannot be read (store.ErrState) is decided by the policy, but does
//     not count: the store has answered, and other keys are well.
//   - A caller's own deadline counts if it left the store half of the time that it
//     should have. Below that it counts when several callers run out of time and
//     nobody gets an answer in between; below a tenth, never.
//   - What a store answers from memory says nothing. It is known by not looking at its
//     context; of a store that never does, all answers count.
//
// There is one breaker for the whole store. If one of three shards of a cluster hangs,
// a third of the calls fails, which does not open it: every decision about a key of
// that shard then takes the whole deadline before the policy decides, for as long as
// that lasts. If most of the shards are gone, the policy decides for all keys.
//
// # Where something is settled that was taken elsewhere
//
// Every check that was decided without the main store is marked Degraded.
//
//   - Commit, Renew and Release name what they settle. The main store is asked
//     first, then the local one: what came too late may be in both. While the
//     main store is down only the local one is asked: the estimate of a
//     reservation made on the main store then stays spent.
//   - Cancel and Return go by the check's mark: back to the local store if the
//     check is marked Degraded, else to the main store, and nowhere while that is
//     down. What is marked Blind was taken nowhere.
//   - Refund and Reset are carried out by whoever decides at the time; a Reset of
//     the main store also resets the local one.
//   - A Renew while the main store is down always succeeds: an outage is no
//     reason to stop who is at work. The permits are counted locally from then on,
//     as far as there is room for them. The first Renew after the outage moves them
//     to the main store, or one after that if there is no room yet.
//
// A Commit, Cancel or Return that found nothing to settle says so in its verdict,
// as always; Degraded then tells that it may be for want of the main store.
//
// # How much more is admitted
//
// A local store that is a split.Store over a memstore enforces this instance's share
// of the instances that live. It is warm: with the policy Local it is also told of
// everything that the main store lets this instance have, so that an outage gives a
// key no more than what its share has left. A refund by the main store does not count
// here, as it cannot be told from what an outage admitted. And the local store is kept
// from one outage to the next, so that a store that comes and goes gives no fresh burst
// each time. In any time Δ that holds outages the instance admits at most its share,
// (burst + rate·Δ)/N, on top of what the main store admits.
//
// The main store knows nothing of what was admitted without it. When it is back, its
// limits may have filled up meanwhile: that is the other burst that an outage can
// cost.
package failover
