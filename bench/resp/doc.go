// Package resp measures the door for Redis clients beside a redis-server: the same
// redis-benchmark asks both, in interleaved rounds. redis-server counts with INCR, the
// cheapest thing that it can do for a limit; sluice makes whole decisions. All of them are
// processes of their own and share the machine.
package resp
