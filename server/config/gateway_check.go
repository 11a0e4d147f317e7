package config

import (
	"fmt"
	"net"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
)

// gatewayCheck finds what is wrong with a section.
type gatewayCheck struct {
	*Gateway
	sources  Sources
	read     *rulefile.Result
	problems rulefile.Problems
}

// fault takes note of a problem, at its place in the file or on the command line.
func (c *gatewayCheck) fault(field, reason, hint string) {
	switch {
	case reason == "":
	case field == "listen" && c.sources.GatewayListen != "":
		c.problems = append(c.problems, rulefile.Problem{File: "--listen", Field: field, Reason: reason, Hint: hint})
	case strings.HasPrefix(field, "upstreams") && len(c.sources.Upstreams) > 0:
		c.problems = append(c.problems, rulefile.Problem{File: "--upstream", Field: field, Reason: reason, Hint: hint})
	default:
		c.problems = append(c.problems, c.read.At(GatewaySection, field, reason, hint))
	}
}

func (c *gatewayCheck) all() {
	reason, hint := checkAddress(c.Listen)
	c.fault("listen", reason, hint)
	if (c.TLS.Cert == "") != (c.TLS.Key == "") {
		c.fault("tls", "a certificate needs a key, and a key a certificate", "set both tls.cert and tls.key, or none")
	}
	if _, err := c.Trusted.Prefixes(); err != nil {
		reason, _, _ = strings.Cut(strings.TrimPrefix(err.Error(), "httplimit: "), " (")
		c.fault("trusted", reason, "name the addresses from which the proxies in front connect: 127.0.0.1, 10.1.2.0/24")
	}
	if strings.ContainsFunc(c.UserHeader, notToken) || isForwarding(c.UserHeader) {
		c.fault("user_header", fmt.Sprintf("%q is no name of a header field for users", c.UserHeader), "write one such as X-Auth-User")
	}
	if c.UserHeader != "" && len(c.Trusted) == 0 {
		c.fault("user_header", "nobody is trusted to set it", "name the proxies that do under trusted")
	}
	c.limits()
	names := map[string]bool{}
	for i := range c.Upstreams {
		u, field := &c.Upstreams[i], fmt.Sprintf("upstreams[%d]", i)
		if u.Name == "" || names[u.Name] {
			c.fault(field, "every upstream needs a name of its own", "add name: app")
		}
		names[u.Name] = true
		c.upstream(u, field)
	}
	c.routes(names)
}

func (c *gatewayCheck) limits() {
	c.fault("limits.header", sizeBetween(c.Limits.Header, 1<<10, 1<<20), "it has to be from 1KiB to 1MiB")
	if c.Limits.Body < 0 {
		c.fault("limits.body", "it cannot be negative", "0B means that bodies are not admitted")
	}
	reason, hint := number(c.Limits.Connections, 1, 1_000_000)
	c.fault("limits.connections", reason, hint)
	for _, t := range []struct {
		field string
		d     rule.Duration
	}{
		{"timeouts.header", c.Timeouts.Header},
		{"timeouts.body", c.Timeouts.Body},
		{"timeouts.write", c.Timeouts.Write},
		{"timeouts.idle", c.Timeouts.Idle},
	} {
		c.duration(t.field, t.d)
	}
}

func (c *gatewayCheck) duration(field string, d rule.Duration) {
	if d < rule.Duration(time.Millisecond) || d > rule.Duration(24*time.Hour) {
		c.fault(field, fmt.Sprintf("%v is out of range", d), "it has to be from 1ms to 24h")
	}
}

func (c *gatewayCheck) upstream(u *Upstream, field string) {
	if len(u.Servers) == 0 {
		c.fault(field, fmt.Sprintf("upstream %q has no servers", u.Name), "add servers: [http://127.0.0.1:9000]")
	}
	seen := map[string]bool{}
	for i, text := range u.Servers {
		place := fmt.Sprintf("%s.servers[%d]", field, i)
		server, err := url.Parse(text)
		switch {
		case err != nil || server.Host == "" || server.Scheme != "http" && server.Scheme != "https" && server.Scheme != "h2c":
			c.fault(place, fmt.Sprintf("%q is no address of a server", text), "write http://host:port, https://host:port or h2c://host:port")
		case server.User != nil || server.Path != "" && server.Path != "/" || server.RawQuery != "" || server.Fragment != "":
			c.fault(place, "only scheme, host and port can stand here", "leave out what comes after the port; a route can cut off a prefix")
		case seen[text]:
			c.fault(place, fmt.Sprintf("%q is there twice", text), "remove one of them")
		}
		seen[text] = true
	}
	if *u.Retries < 0 || *u.Retries > 10 {
		c.fault(field+".retries", fmt.Sprintf("%d is out of range", *u.Retries), "it has to be from 0 to 10")
	}
	if u.Health.Path != "" && !strings.HasPrefix(u.Health.Path, "/") {
		c.fault(field+".health.path", fmt.Sprintf("%q is no path", u.Health.Path), "write one such as /healthz")
	}
	if u.Concurrency.Limit < 0 || u.Concurrency.Wait < 0 {
		c.fault(field+".concurrency", "limit and wait cannot be negative", "leave them out if there is no bound")
	}
	if u.Shape != (sluice.Limit{}) {
		if err := u.Shape.Validate(); err != nil {
			c.fault(field+".shape", err.Error(), "write a rate, such as 200/s burst=50 max_wait=2s")
		}
	}
	for name, d := range map[string]rule.Duration{
		".timeouts.connect": u.Timeouts.Connect, ".timeouts.answer": u.Timeouts.Answer, ".timeouts.idle": u.Timeouts.Idle,
		".health.every": u.Health.Every, ".health.timeout": u.Health.Timeout, ".health.pause": u.Health.Pause,
	} {
		c.duration(field+name, d)
	}
}

func (c *gatewayCheck) routes(upstreams map[string]bool) {
	if len(c.Routes) == 0 {
		c.fault("routes", "there are several upstreams and no routes", "add routes: [{prefix: /, upstream: "+c.Upstreams[0].Name+"}]")
	}
	seen := map[string]bool{}
	for i, r := range c.Routes {
		field := fmt.Sprintf("routes[%d]", i)
		if !upstreams[r.Upstream] {
			c.fault(field+".upstream", fmt.Sprintf("there is no upstream %q", r.Upstream), "use the name of one under upstreams")
		}
		if canonical, ambiguous := rule.CanonicalPath(r.Prefix, false); r.Prefix != "" && (ambiguous || strings.TrimSuffix(canonical, "/") != strings.TrimSuffix(r.Prefix, "/")) {
			c.fault(field+".prefix", fmt.Sprintf("%q is no plain path", r.Prefix), "write one such as /api")
		}
		hosts := r.Hosts
		if len(hosts) == 0 {
			hosts = []string{""}
		}
		for j, h := range hosts {
			bare := strings.TrimPrefix(h, "*.")
			if _, _, err := net.SplitHostPort(bare); err == nil || h != "" && rule.CanonicalHost(bare) != bare || strings.ContainsAny(bare, "*/ ") {
				c.fault(fmt.Sprintf("%s.hosts[%d]", field, j), fmt.Sprintf("%q is no name of a host", h), "write shop.example.com or *.example.com, in lower case and without port")
			}
			key := h + " " + strings.TrimSuffix(r.Prefix, "/")
			if seen[key] {
				c.fault(field, "another route has the same host and prefix", "remove one of them")
			}
			seen[key] = true
		}
	}
}

func sizeBetween(s, least, most Size) string {
	if s < least || s > most {
		return fmt.Sprintf("%s is out of range", s)
	}
	return ""
}

// notToken reports whether a character cannot stand in the name of a header field.
func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}

// isForwarding reports whether the gateway itself sets a field of this name.
func isForwarding(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	return strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "X-Real-Ip"
}
