package config

import (
	"net/textproto"
	"strings"
	"time"
)

// GRPC is about Envoy's rate-limit service.
type GRPC struct {
	Listen    string `json:"listen"`
	ClientCA  string `json:"client_ca"`
	Trusted   bool   `json:"trusted"`
	Headers   string `json:"headers"`
	Metadata  bool   `json:"metadata"`
	LateCosts bool   `json:"late_costs"`
}

// Envoy is about descriptors in the form of envoyproxy/ratelimit.
type Envoy struct {
	Config    string `json:"config"`
	Merge     bool   `json:"merge"`
	Zone      string `json:"zone"`
	QuotaMode bool   `json:"quota_mode"`
}

// DefaultGRPC is the address of the service if descriptors are given and no address.
const DefaultGRPC = "127.0.0.1:8081"

// GRPCAddress returns where the service listens; empty: nowhere.
func (c *Config) GRPCAddress() string {
	if c.GRPC.Listen == "" && c.Envoy.Config != "" {
		return DefaultGRPC
	}
	return c.GRPC.Listen
}

// Tokens reports whether the service asks for tokens, if there are any.
func (g *GRPC) Tokens() bool { return !g.Trusted && g.ClientCA == "" }

func checkGRPC(c *Config) (reason, hint string) {
	address := c.GRPC.Listen
	if address == "" {
		return "", ""
	}
	if reason, hint = checkAddress(address); reason != "" {
		return reason, hint
	}
	switch {
	case Loopback(address), !c.GRPC.Tokens():
		return "", ""
	case c.Tokens == (Secret{}):
		return address + " can be reached from other machines: anybody could use up budgets",
			"listen on 127.0.0.1; or ask for certificates with grpc.client_ca, or for tokens with tokens.file; or set grpc.trusted, if only Envoy can reach it"
	}
	return checkPublic(address, c)
}

func checkClientCA(c *Config) (reason, hint string) {
	if c.GRPC.ClientCA != "" && c.TLS.Cert == "" {
		return "certificates of clients need TLS", "set tls.cert and tls.key too"
	}
	return "", ""
}

func checkGRPCHeaders(c *Config) (reason, hint string) {
	if c.GRPC.Headers == "" {
		return "", ""
	}
	names := c.GRPC.HeaderNames()
	for _, name := range names {
		if name == "" || strings.ContainsFunc(textproto.TrimString(name), func(r rune) bool {
			return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
		}) {
			names = nil
		}
	}
	if len(names) != 3 {
		return "these are no three names of header fields", "write RateLimit-Limit,RateLimit-Remaining,RateLimit-Reset"
	}
	return "", ""
}

// HeaderNames returns the names of the fields with limit, rest and reset; none if nobody
// is told.
func (g *GRPC) HeaderNames() []string {
	if g.Headers == "" {
		return nil
	}
	names := strings.Split(g.Headers, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

func checkZone(c *Config) (reason, hint string) {
	if _, err := time.LoadLocation(c.Envoy.Zone); err != nil {
		return err.Error(), "write the name of a time zone, such as Europe/Berlin"
	}
	return "", ""
}
