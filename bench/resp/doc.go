// Package resp measures the door for Redis clients beside a redis-server: the same
// redis-benchmark asks both, in interleaved rounds. redis-server counts with INCR, the
// cheapest thing that it can do for a limit; sluice makes whole decisions. What an answer as
// long as that of SLUICE.CHECK costs by itself is seen by two others: one that says it
// without deciding, and a list of redis-server. All share the machine.
package resp
