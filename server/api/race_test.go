//go:build race

package api

// raceEnabled says that the race detector is on, which allocates on its own.
const raceEnabled = true
