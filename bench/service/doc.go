// Package service measures what stands inside a Go service: the rule engine, the
// HTTP middleware beside its peers, and the database guard. Everything runs in one
// process, on one goroutine, round by round in a new order each time.
package service
