//go:build race

package rule_test

// allocations that a match may make: any, since under the race detector a
// sync.Pool forgets what it holds now and then. The answers are checked all the
// same.
const allocations = 1e9
