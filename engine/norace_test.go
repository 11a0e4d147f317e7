//go:build !race

package engine_test

// allocations that a decision may make.
const allocations = 0.0
