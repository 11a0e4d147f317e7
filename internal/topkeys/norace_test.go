//go:build !race

package topkeys

// raceDetector makes long tests shorter.
const raceDetector = false
