//go:build race

package rulefile

// raceEnabled: the detector makes pools forget, so that allocations say nothing.
const raceEnabled = true
