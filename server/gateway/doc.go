// Package gateway is a reverse proxy that asks the rules first. What they refuse goes no
// further; what they let pass goes to one of several upstream servers, and its answer
// back, as both come: nothing is held in memory.
//
// A request takes this way:
//
//	exchange ─ rules (httplimit) ─ route ─ upstream: queue, server, retry ─ answer
//
// Routes and upstreams can be changed while it runs: [Gateway.Apply]. Requests that are
// under way end with those that they began with.
package gateway
