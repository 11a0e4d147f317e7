package rulefile

import (
	"net/netip"

	"github.com/expr-lang/expr/vm"

	"github.com/sluice-limiter/sluice/rule"
)

// environment is what expressions can use, with an example of each type.
var environment = map[string]any{
	"method": "", "host": "", "path": "", "ip": "", "user": "", "length": 0,
	"query": func(string) string { return "" }, "header": func(string) string { return "" },
	"cookie": func(string) string { return "" }, "attribute": func(string) string { return "" },
	"in_cidr": func(string, string) bool { return false },
}

// variables are those of the environment that are no functions. Only those that an
// expression uses are filled in, since each costs an allocation.
var variables = []struct {
	name string
	of   func(*run) any
}{
	{"method", func(r *run) any { return methodOf(r.request.Method) }},
	{"host", func(r *run) any { return rule.CanonicalHost(r.request.Host) }},
	{"path", func(r *run) any { return r.request.Path }},
	{"ip", func(r *run) any { return ipOf(r.request.IP) }},
	{"user", func(r *run) any { return r.request.User }},
	{"length", func(r *run) any { return int(r.request.Length) }},
}

// run is what one evaluation needs; it is used again and again.
type run struct {
	machine  vm.VM
	env      map[string]any
	request  *rule.Request
	prefixes map[string]netip.Prefix
}

func (c *condition) newRun() *run {
	r := &run{machine: vm.VM{MemoryBudget: memoryBudget}, prefixes: c.prefixes}
	r.env = map[string]any{
		"query": r.query, "header": r.header, "cookie": r.cookie, "attribute": r.attribute, "in_cidr": r.inCIDR,
	}
	return r
}

func (r *run) fill(uses uint) {
	for i, v := range variables {
		if uses&(1<<i) != 0 {
			r.env[v.name] = v.of(r)
		}
	}
}

// clear lets go of the request.
func (r *run) clear(uses uint) {
	r.request = nil
	for i, v := range variables {
		if uses&(1<<i) != 0 {
			r.env[v.name] = nil
		}
	}
}

func (r *run) header(name string) string {
	if r.request.Header == nil {
		return ""
	}
	return r.request.Header.Get(name)
}

func (r *run) query(name string) string { return r.request.QueryValue(name) }

func (r *run) cookie(name string) string { return r.request.Cookie(name) }

func (r *run) attribute(name string) string { return r.request.Attributes[name] }

// inCIDR takes prefixes that were read when the expression was compiled.
func (r *run) inCIDR(ip, prefix string) bool {
	addr, err := netip.ParseAddr(ip)
	return err == nil && r.prefixes[prefix].Contains(addr)
}

// methodOf boxes common methods without an allocation.
func methodOf(method string) any {
	switch method {
	case "GET":
		return "GET"
	case "POST":
		return "POST"
	case "PUT":
		return "PUT"
	case "PATCH":
		return "PATCH"
	case "DELETE":
		return "DELETE"
	case "HEAD":
		return "HEAD"
	case "OPTIONS":
		return "OPTIONS"
	}
	return method
}

// ipOf returns the address as text, IPv4 always as such, without a zone.
func ipOf(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.Unmap().WithZone("").String()
}
