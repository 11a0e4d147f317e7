package app

import "log/slog"

// connections returns how many there may be of those that the settings want. If clients
// could take all descriptors, there would be none for Redis, for rule files, and for the
// client whose token gives it the place of another: an eighth is kept for them.
func connections(wanted int, descriptors int64, logger *slog.Logger) int {
	if descriptors == 0 {
		return wanted
	}
	most := max(1, descriptors-max(descriptors/8, 16))
	if int64(wanted) <= most {
		return wanted
	}
	logger.Warn("there will be fewer connections than limits.connections: raise how many files the process may have open (ulimit -n, LimitNOFILE)",
		"limit", wanted, "connections", most, "files", descriptors)
	return int(most)
}
