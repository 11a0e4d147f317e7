//go:build race

package engine_test

// allocations that a decision may make: any, since under the race detector a
// sync.Pool forgets what it holds now and then. The answers are checked all the
// same.
const allocations = 1e9
