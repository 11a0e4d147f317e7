package config

import (
	"slices"
	"strings"
)

// Unknown returns the names of variables that look like settings and are none, such as
// SLUICE_LISTNE. known are further names that mean something. What Kubernetes sets for
// a service called sluice is left out.
func Unknown(environ []string, known ...string) []string {
	var unknown []string
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		switch {
		case !strings.HasPrefix(name, "SLUICE_"),
			strings.HasPrefix(name, "SLUICE_PORT"), strings.HasPrefix(name, "SLUICE_SERVICE_"),
			slices.Contains(known, name),
			slices.ContainsFunc(settings, func(s Setting) bool { return s.Env() == name }):
		default:
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
