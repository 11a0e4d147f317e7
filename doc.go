// Package sluice limits how much happens: requests per second, per user, per
// anything, in this process or over a whole fleet.
//
// There are three rungs, each enough for someone:
//
//   - [NewLimiter]: one limit for the whole process, with the methods of
//     golang.org/x/time/rate.
//   - [NewKeyed]: the same limits for any number of keys, each with a budget of
//     its own: per user, per address, per tenant.
//   - [NewConcurrency]: how much may be in flight at the same time.
//
// A [Limit] says how much, and in which way it is counted: see [Algorithm], and
// [Parse] for how to write one as text.
//
// Every answer is a [Decision]. A denial is an answer, not an error, and tells
// exactly when to come back.
package sluice
