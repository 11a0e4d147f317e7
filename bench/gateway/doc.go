// Package gateway measures `sluice gateway` beside nginx, HAProxy and Caddy, and beside
// what Go's standard library does without us: a bare httputil.ReverseProxy, and a bare
// handler that writes the same refusal. All are processes of their own, wrk asks them in
// interleaved rounds, and the same nginx stands behind them. All of them share the
// machine, so that a rate tells of the processor time that a request takes in all.
package gateway
