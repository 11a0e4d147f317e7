// Package server measures the real program: `sluice serve` and a net/http server whose
// handler only reads the body and writes the same answer are processes of their own, and
// one load generator asks both, in interleaved rounds. All of them share the machine.
//
// The load is closed: every connection sends its next request when the last one is
// answered. Beside what the clients see, the CPU time that the servers took is measured:
// it tells the cost of a request also on a machine that has other work to do.
package server
