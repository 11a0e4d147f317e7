package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The checks of single settings, and of those that depend on each other. They return
// what is wrong, and what to do.

func checkListen(c *Config) (reason, hint string) {
	if reason, hint = checkAddress(c.Listen); reason != "" {
		return reason, hint
	}
	return checkPublic(c.Listen, c)
}

// checkPublic says what is wrong with an address that asks for the tokens of c: one that
// others can reach needs some, and TLS so that nobody reads them on the way.
func checkPublic(address string, c *Config) (reason, hint string) {
	const (
		needsTLS = "set tls.cert and tls.key, or, if a proxy in front or a private network keeps others from listening, tls.off (SLUICE_TLS_OFF=true, --tls-off)"
		tokens   = "listen on 127.0.0.1, or name a file of tokens with tokens.file (SLUICE_TOKENS_FILE, --tokens-file); this makes one: openssl rand -hex 32"
	)
	plain := c.TLS.Cert == "" && c.TLS.Key == "" && !c.TLS.Off
	switch {
	case Loopback(address):
		return "", ""
	case c.Tokens == (Secret{}) && plain:
		return exposed(address), tokens + ". Then " + needsTLS
	case c.Tokens == (Secret{}):
		return exposed(address), tokens
	case plain:
		return address + " can be reached from other machines, and there is no TLS: tokens could be read on the way", needsTLS
	}
	return "", ""
}

// exposed says what is wrong with an address that others can reach without a token.
func exposed(address string) string {
	return address + " can be reached from other machines, and there are no tokens: anybody could change limits"
}

func checkAdmin(c *Config) (reason, hint string) {
	if c.Admin == "" {
		return "", ""
	}
	if reason, hint = checkAddress(c.Admin); reason != "" {
		return reason, hint
	}
	if !Loopback(c.Admin) {
		return fmt.Sprintf("%s can be reached from other machines, and profiles ask for no token", c.Admin), "use a loopback address such as 127.0.0.1:6060, and a tunnel to it"
	}
	if c.Admin == c.Listen && !strings.HasSuffix(c.Admin, ":0") {
		return "profiles and the API cannot have the same address", "take another port, such as 127.0.0.1:6060"
	}
	return "", ""
}

func checkAddress(address string) (reason, hint string) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Sprintf("%q is no address", address), "write host:port, such as 127.0.0.1:8080, [::1]:8080 or :8080 for all interfaces"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Sprintf("%q is no port", port), "write a number from 0 to 65535; 0 takes one that is free"
	}
	return "", ""
}

// Loopback reports whether an address can be reached from this machine only.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func checkCert(c *Config) (reason, hint string) {
	if c.TLS.Key != "" && c.TLS.Cert == "" {
		return "there is a key, but no certificate", "set tls.cert too"
	}
	return "", ""
}

func checkKey(c *Config) (reason, hint string) {
	if c.TLS.Cert != "" && c.TLS.Key == "" {
		return "there is a certificate, but no key", "set tls.key too"
	}
	return "", ""
}

func checkNoTLS(c *Config) (reason, hint string) {
	if c.TLS.Off && c.TLS.Cert != "" {
		return "there is a certificate, and TLS is off", "keep one of tls.cert and tls.off"
	}
	return "", ""
}

func checkTokens(c *Config) (reason, hint string) { return checkPlace(c.Tokens) }

func checkSecret(c *Config) (reason, hint string) { return checkPlace(c.Keys.Secret) }

func checkPlace(s Secret) (reason, hint string) {
	if s.Env != "" && s.File != "" {
		return "a variable and a file are both named", "keep one of them"
	}
	return "", ""
}

func checkHash(c *Config) (reason, hint string) {
	if c.Keys.Hash && c.Redis != "" && c.Keys.Secret == (Secret{}) {
		return "there is no secret to hash keys with", "set keys.secret.file (SLUICE_KEYS_SECRET_FILE, --keys-secret-file); this makes one: openssl rand -hex 32"
	}
	return "", ""
}

func checkRedis(c *Config) (reason, hint string) {
	if c.Redis == "" {
		return "", ""
	}
	if _, err := ParseRedis(c.Redis); err != nil {
		return err.Error(), "write redis://host:6379/0, rediss://user:password@host:6380 or redis://host1:7000?addr=host2:7000&cluster=true"
	}
	return "", ""
}

func checkPrefix(c *Config) (reason, hint string) {
	if c.Prefix == "" || strings.ContainsAny(c.Prefix, "{} \t\r\n") {
		return fmt.Sprintf("the prefix %q cannot be", c.Prefix), "use a word such as sluice"
	}
	return "", ""
}

func checkGroup(c *Config) (reason, hint string) {
	if c.Split.Group == "" || len(c.Split.Group) > 256 {
		return "the name of the group has to be 1 to 256 bytes long", "use a word such as api"
	}
	return "", ""
}

func checkAssume(c *Config) (reason, hint string) {
	return number(c.Split.Assume, 1, 1_000_000)
}

func checkInFlight(c *Config) (reason, hint string) {
	return number(c.Limits.InFlight, 1, 1_000_000)
}

func checkConnections(c *Config) (reason, hint string) {
	return number(c.Limits.Connections, 1, 1_000_000)
}

func number(n, least, most int) (reason, hint string) {
	if n < least || n > most {
		return fmt.Sprintf("%d is out of range", n), fmt.Sprintf("it has to be from %d to %d", least, most)
	}
	return "", ""
}

func atLeastMemory(get func(*Config) Size) func(*Config) (reason, hint string) {
	return func(c *Config) (reason, hint string) {
		if size := get(c); size < 1<<20 {
			return fmt.Sprintf("%s is too little", size), "give it 1MiB or more; about 50 bytes are needed per key"
		}
		return "", ""
	}
}

func checkRecord(c *Config) (reason, hint string) {
	if size := c.Record.Memory; size != 0 && size < 1<<20 || size > 64<<30 {
		return fmt.Sprintf("%s is out of range", size), "give it from 1MiB to 64GiB, or 0B for none"
	}
	return "", ""
}

func checkBody(c *Config) (reason, hint string) {
	if c.Limits.Body < 1<<10 || c.Limits.Body > 1<<30 {
		return fmt.Sprintf("%s is out of range", c.Limits.Body), "it has to be from 1KiB to 1GiB"
	}
	return "", ""
}

func share(name string, get func(*Config) float64) func(*Config) (reason, hint string) {
	return func(c *Config) (reason, hint string) {
		if v := get(c); !(v >= 0 && v <= 1) {
			return fmt.Sprintf("%s cannot be %v", name, v), "it has to be from 0 to 1: 0.01 is one in a hundred"
		}
		return "", ""
	}
}

func checkTrace(c *Config) (reason, hint string) {
	if c.Trace.Endpoint == "" {
		return "", ""
	}
	u, err := url.Parse(c.Trace.Endpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "trace.endpoint is no address of a collector", "write it as http://127.0.0.1:4318/v1/traces"
	case u.User != nil:
		return "trace.endpoint holds a password", "put it into the variable OTEL_EXPORTER_OTLP_HEADERS: Authorization=Basic%20…"
	}
	return "", ""
}

func between(name string, least, most time.Duration, get func(*Config) time.Duration) func(*Config) (reason, hint string) {
	return func(c *Config) (reason, hint string) {
		if d := get(c); d < least || d > most {
			return fmt.Sprintf("%s of %v is out of range", name, d), fmt.Sprintf("it has to be from %v to %v", least, most)
		}
		return "", ""
	}
}
