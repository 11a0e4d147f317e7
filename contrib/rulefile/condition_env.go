package rulefile

import (
	"net/netip"
	"net/url"
	"strings"
	"sync"

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
	{"host", func(r *run) any { return hostOf(r.request.Host) }},
	{"path", func(r *run) any { return r.path() }},
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
	probe    rule.Request // the path alone, and its canonical form
	matches  rule.Matches
	fold     int
}

func (c *condition) newRun() *run {
	r := &run{machine: vm.VM{MemoryBudget: memoryBudget}, prefixes: c.prefixes, fold: c.fold}
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

// canonicalizers are sets that are used for nothing but the form of paths: as they
// are, and with case folded.
var canonicalizers = [2]func() (*rule.Set, error){
	sync.OnceValues(func() (*rule.Set, error) { return rule.Compile(rule.Config{}) }),
	sync.OnceValues(func() (*rule.Set, error) { return rule.Compile(rule.Config{Paths: rule.Paths{FoldCase: true}}) }),
}

// path returns the path in canonical form, as the rules compare it, so that no other
// spelling is a way round an expression.
func (r *run) path() string {
	set, err := canonicalizers[r.fold]()
	if err != nil {
		return r.request.Path
	}
	r.probe.Path = r.request.Path
	set.Match(&r.probe, &r.matches)
	return r.matches.Path
}

func (r *run) header(name string) string {
	if r.request.Header == nil {
		return ""
	}
	return r.request.Header.Get(name)
}

// query returns the first value of a parameter, decoded; "" if it cannot be.
func (r *run) query(name string) string {
	rest := r.request.Query
	for rest != "" {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		key, value, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name {
			continue
		}
		value, err := url.QueryUnescape(value)
		if err != nil {
			return ""
		}
		return value
	}
	return ""
}

// cookie returns the first value of a cookie, without quotes.
func (r *run) cookie(name string) string {
	rest := r.header("Cookie")
	for rest != "" {
		var pair string
		pair, rest, _ = strings.Cut(rest, ";")
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if key != name {
			continue
		}
		if n := len(value); n > 1 && value[0] == '"' && value[n-1] == '"' {
			value = value[1 : n-1]
		}
		return value
	}
	return ""
}

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

// hostOf returns the host without port, in lower case and without a dot at the end.
func hostOf(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// ipOf returns the address as text, IPv4 always as such, without a zone.
func ipOf(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.Unmap().WithZone("").String()
}
