//go:build !race

package httplimit_test

// counted says that allocations can be counted: the race detector makes some itself.
const counted = true
