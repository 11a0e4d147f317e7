package gateway

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/config"
)

// table is where requests go. It does not change.
type table struct {
	hosts     map[string][]route // by exact name
	domains   []domain           // *.example.com, the longest first
	rest      []route            // of all other hosts
	byPath    bool               // some route depends on the path
	upstreams map[string]*upstream
}

type domain struct {
	suffix string // .example.com
	routes []route
}

// route is a prefix with where it leads; the longest comes first.
type route struct {
	prefix   string // without a slash at its end; empty: all paths
	strip    bool
	upstream *upstream
}

// newTable makes what the settings say, of the upstreams that there are already.
func newTable(c config.Gateway, before *table, o *Options) (*table, error) {
	t := &table{hosts: map[string][]route{}, upstreams: map[string]*upstream{}}
	for _, settings := range c.Upstreams {
		var old *upstream
		if before != nil {
			old = before.upstreams[settings.Name]
		}
		u, err := newUpstream(settings, old, o)
		if err != nil {
			t.retire(before)
			return nil, err
		}
		t.upstreams[settings.Name] = u
	}
	suffixes := map[string][]route{}
	for _, r := range c.Routes {
		made := route{strings.TrimSuffix(r.Prefix, "/"), r.Strip, t.upstreams[r.Upstream]}
		t.byPath = t.byPath || made.prefix != ""
		if len(r.Hosts) == 0 {
			t.rest = append(t.rest, made)
		}
		for _, host := range r.Hosts {
			if suffix, ok := strings.CutPrefix(host, "*"); ok {
				suffixes[suffix] = append(suffixes[suffix], made)
			} else {
				t.hosts[host] = append(t.hosts[host], made)
			}
		}
	}
	for suffix, routes := range suffixes {
		t.domains = append(t.domains, domain{suffix, routes})
	}
	t.sort()
	return t, nil
}

func (t *table) sort() {
	slices.SortFunc(t.domains, func(a, b domain) int { return cmp.Compare(len(b.suffix), len(a.suffix)) })
	longest := func(a, b route) int { return cmp.Compare(len(b.prefix), len(a.prefix)) }
	slices.SortFunc(t.rest, longest)
	for _, routes := range t.hosts {
		slices.SortFunc(routes, longest)
	}
	for _, d := range t.domains {
		slices.SortFunc(d.routes, longest)
	}
}

// find returns the route of a request. A path that upstreams could read in another way
// than the routes do leads nowhere, and ambiguous says so.
func (t *table) find(host, path string) (found *route, ambiguous bool) {
	if len(t.rest) == 1 && !t.byPath && len(t.hosts) == 0 && len(t.domains) == 0 {
		return &t.rest[0], false
	}
	if t.byPath {
		if path, ambiguous = rule.CanonicalPath(path, false); ambiguous {
			return nil, true
		}
	}
	host = rule.CanonicalHost(host)
	if found = first(t.hosts[host], path); found != nil {
		return found, false
	}
	for i := range t.domains {
		if d := &t.domains[i]; strings.HasSuffix(host, d.suffix) && len(host) > len(d.suffix) {
			if found = first(d.routes, path); found != nil {
				return found, false
			}
		}
	}
	return first(t.rest, path), false
}

func first(routes []route, path string) *route {
	for i := range routes {
		if r := &routes[i]; within(path, r.prefix) {
			return r
		}
	}
	return nil
}

// within reports whether a path is that of the prefix or below it.
func within(path, prefix string) bool {
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || prefix == "" || path[len(prefix)] == '/')
}

// retire ends all upstreams and servers that after, which may be nil, does not have.
func (t *table) retire(after *table) {
	if t == nil {
		return
	}
	for name, u := range t.upstreams {
		var next *upstream
		if after != nil {
			next = after.upstreams[name]
		}
		u.retire(next)
	}
}

// bound puts the limits of all upstreams in force.
func (t *table) bound() {
	for _, u := range t.upstreams {
		u.bound()
	}
}

func (t *table) close() { t.retire(nil) }
