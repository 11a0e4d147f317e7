//go:build !race

package rule_test

// allocations that a match may make.
const allocations = 0.0
