//go:build !race

package sluice_test

// allocations that a decision may make.
const allocations = 0.0
