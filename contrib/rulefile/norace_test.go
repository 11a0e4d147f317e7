//go:build !race

package rulefile

const raceEnabled = false
