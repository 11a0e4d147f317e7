// Package redis holds the tests of sluice on real Redis servers: both clients on
// every topology, and what happens when servers die, lie or fall silent.
package redis
