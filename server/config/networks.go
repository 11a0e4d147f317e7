package config

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"

	"github.com/sluice-limiter/sluice/httplimit"
)

// Networks are addresses and networks, such as 10.0.0.0/8 and 2001:db8::1: a list in
// the file, separated by spaces or commas elsewhere.
type Networks []string

// String writes them as variables and flags have them.
func (n *Networks) String() string { return strings.Join(*n, " ") }

// UnmarshalText reads what String writes.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = strings.FieldsFunc(string(text), func(c rune) bool { return c == ' ' || c == ',' })
	return nil
}

// UnmarshalJSON reads a list of texts, or a text.
func (n *Networks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return n.UnmarshalText([]byte(text))
	}
	var list []string
	if json.Unmarshal(data, &list) != nil {
		return errors.New("this is no list of networks: write [10.0.0.0/8, 192.0.2.1]")
	}
	*n = list
	return nil
}

// Prefixes returns them as networks. Settings that were loaded have no error.
func (n Networks) Prefixes() ([]netip.Prefix, error) { return httplimit.ParsePrefixes(n...) }

func checkTrusted(c *Config) (reason, hint string) {
	if _, err := c.ForwardAuth.Trusted.Prefixes(); err != nil {
		reason, _, _ = strings.Cut(strings.TrimPrefix(err.Error(), "httplimit: "), " (") // there speaks a library to a programmer
		return reason, "name the addresses from which your proxies connect to sluice: 127.0.0.1, 10.1.2.0/24"
	}
	return "", ""
}
