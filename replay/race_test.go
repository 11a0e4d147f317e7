//go:build race

package replay_test

// mostRequests of a log are compared under the race detector, which makes each some
// twenty times slower.
const mostRequests = 5000
