package accesslog

// SetFanIn changes how many temporary files are merged into one.
func SetFanIn(n int) (before int) {
	before, fanIn = fanIn, n
	return before
}
