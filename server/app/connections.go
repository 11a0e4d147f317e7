package app

import (
	"log/slog"
	"net"
)

// limit returns the listener with as many places as limits.connections says.
func (a *App) limit(l net.Listener) *limited {
	if len(a.limits) > 0 { // it has been said if they are fewer
		a.limits = append(a.limits, limitListener(l, a.limits[0].places))
	} else {
		a.limits = append(a.limits, limitListener(l, a.connectionsOf("limits.connections", a.config.Limits.Connections)))
	}
	return a.limits[len(a.limits)-1]
}

// countConnections tells of all these listeners together.
func (a *App) countConnections() {
	sum := func(of func(*limited) int64) func() int64 {
		return func() (n int64) {
			for _, l := range a.limits {
				n += of(l)
			}
			return n
		}
	}
	places := sum(func(l *limited) int64 { return int64(l.places) })
	a.metrics.Connections(sum((*limited).open), sum(func(l *limited) int64 { return l.dropped.Load() }), places())
}

// connectionsOf returns how many there may be at one of the doors. Those that have such a
// setting share the descriptors of the process.
func (a *App) connectionsOf(setting string, wanted int) int {
	doors := int64(1) // the API
	if a.config.RESP.Listen != "" {
		doors++
	}
	if a.config.GRPCAddress() != "" {
		doors++
	}
	if loaded, _ := a.rules.current(); loaded.Gateway.On() {
		doors += 2 // each of its clients needs a connection to a server too
	}
	return connections(setting, wanted, descriptors()/doors, a.logger)
}

// connections returns how many there may be of those that a setting wants. If clients
// could take all descriptors, there would be none for Redis, for rule files, and for the
// client whose token gives it the place of another: an eighth is kept for them.
func connections(setting string, wanted int, descriptors int64, logger *slog.Logger) int {
	if descriptors == 0 {
		return wanted
	}
	most := max(1, descriptors-max(descriptors/8, 16))
	if int64(wanted) <= most {
		return wanted
	}
	logger.Warn("there will be fewer connections than "+setting+": raise how many files the process may have open (ulimit -n, LimitNOFILE)",
		"limit", wanted, "connections", most, "files", descriptors)
	return int(most)
}
