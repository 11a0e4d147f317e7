package app

import (
	"fmt"
	"reflect"

	"github.com/sluice-limiter/sluice/server/config"
)

// gatewayDiff tells in words what changed between two sections "gateway".
func gatewayDiff(before, after *config.Gateway) []string {
	lines := []string{}
	old, left := map[string]config.Upstream{}, map[string]bool{}
	for _, u := range before.Upstreams {
		old[u.Name], left[u.Name] = u, true
	}
	for _, u := range after.Upstreams {
		was, known := old[u.Name]
		delete(left, u.Name)
		switch {
		case !known:
			lines = append(lines, fmt.Sprintf("gateway: new upstream %s: %v", u.Name, u.Servers))
		case !reflect.DeepEqual(was.Servers, u.Servers):
			lines = append(lines, fmt.Sprintf("gateway: upstream %s: servers %v → %v", u.Name, was.Servers, u.Servers))
		case !reflect.DeepEqual(was, u):
			lines = append(lines, fmt.Sprintf("gateway: upstream %s changed", u.Name))
		}
	}
	for _, u := range before.Upstreams {
		if left[u.Name] {
			lines = append(lines, fmt.Sprintf("gateway: upstream %s removed", u.Name))
		}
	}
	if !reflect.DeepEqual(before.Routes, after.Routes) {
		lines = append(lines, fmt.Sprintf("gateway: %d routes, before %d", len(after.Routes), len(before.Routes)))
	}
	a, b := *before, *after
	a.Upstreams, a.Routes, b.Upstreams, b.Routes = nil, nil, nil, nil
	if !reflect.DeepEqual(a, b) {
		lines = append(lines, "gateway: settings other than upstreams and routes changed: restart to apply them")
	}
	return lines
}
