// Package algotest is the readable specification of every algorithm: scripts
// of requests with the answers that they must get, and the runner for them.
// [Run] plays all scripts against any store; [Model] is the simplest store that
// passes, and the reference to which others are compared.
//
// A script file holds scripts; a script is a name, a limit and steps:
//
//	script the_last_token
//	limit token_bucket 10/1s burst 20
//	at 0s    cost 20            -> allow remaining 0 reset 2s
//	at 0s    cost 1 wait 100ms  -> allow wait 100ms     # the most it may wait
//	at 0s    cost 0             -> deny retry 200ms     # cost 0 is a peek
//	at 0s    cost 5 wait 1s as b -> allow wait 600ms    # a booking with a name
//	at 0s    cancel 5 as b      -> settled              # given back, or unsettled
//	at 1s    refund 3
//	at 1s    reserve 5 as job hold 10s -> allow
//	at 3s    commit 2 as job    -> settled              # or unsettled
//	at 3s    reset
//	limit token_bucket 5/1s burst 5                     # the limit changes
//	at 365d-1us cost 6          -> deny retry never
//
// The clock starts at 2024-01-01T00:00:00Z, which is aligned to every window
// up to a day; at may go back. Durations have the units y (365 d), d, h, m, s, ms
// and us, may be joined (1m30s) and added (1s-1us). What stands after -> is
// optional and is compared where it stands: allow or deny, remaining, retry,
// reset, wait, and by, which names the window of a log or the limit that bound.
//
// Limits: fixed_window 5/1s [first_hit | bounds 0d 31d 60d], sliding_window
// 5/1s [sub 10 | weighted], sliding_log 5/1s 50/1m [log_max 9], token_bucket
// 5/1s [burst 9] [refill interval], leaky_bucket 5/1s queue 9, warm_up 5/1s
// warm 4s [cold 3], ban, unlimited. The booking ones also take max_wait 1s, and
// all take ordinal 1. Several limits have names (limit a: …) and are asked at
// once, or by name (cost 1 on a); -> deny by b retry 1s a: remaining 3 looks at
// the decision and then at a alone. A step may say key K; the default is k. Shadow
// limits (limit c: shadow …) stand behind all others and are no part of the decision.
package algotest
