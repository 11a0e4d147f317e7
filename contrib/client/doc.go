// Package sluiceclient asks a sluice server for decisions over HTTP. It needs nothing
// but the standard library.
//
// A denial is no error: it is a Decision that is not Allowed. An error means that there
// is no decision, and the caller says what then: let the request pass, or refuse it.
//
// # Nothing is charged twice
//
// Check, CheckAll, Reserve, Commit, Refund and Reset are sent again only if the server
// could not be connected to, so that it cannot have seen them. After a timeout or a
// broken connection nobody knows whether the cost was spent; the error is returned.
// Peek, Explain and Ready spend nothing and are also sent again when the server is
// restarting.
package sluiceclient
