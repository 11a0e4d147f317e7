//go:build !race

package replay_test

// mostRequests of a log are compared: all.
const mostRequests = 1 << 30
