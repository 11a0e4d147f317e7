package config

import (
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// RESP is about the door for Redis clients.
type RESP struct {
	Listen      string        `json:"listen"`
	Connections int           `json:"connections"`
	Idle        rule.Duration `json:"idle"`
}

func checkRESP(c *Config) (reason, hint string) {
	if c.RESP.Listen == "" {
		return "", ""
	}
	if reason, hint = checkAddress(c.RESP.Listen); reason != "" {
		return reason, hint
	}
	if (c.RESP.Listen == c.Listen || c.RESP.Listen == c.Admin) && !strings.HasSuffix(c.RESP.Listen, ":0") {
		return "Redis clients cannot have the same address as the API or the profiles", "take another port, such as 127.0.0.1:6380"
	}
	return checkPublic(c.RESP.Listen, c)
}

func checkRESPConnections(c *Config) (reason, hint string) {
	return number(c.RESP.Connections, 1, 1_000_000)
}
