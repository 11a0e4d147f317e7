// Package resp is the door for Redis clients: it speaks their protocol (RESP2, and RESP3
// after HELLO 3), so that any of them, in any language, can ask for decisions.
//
// CL.THROTTLE answers as the redis-cell module does; SLUICE.CHECK, SLUICE.PEEK and
// SLUICE.RESET ask the rules. Everything else is what clients need to connect.
//
// Nothing that a client sends makes the door hold memory without bound: requests,
// arguments, answers, connections and times have limits.
package resp
