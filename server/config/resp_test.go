package config_test

import (
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

// TestRESPSettings: what the door for Redis clients can be, and what it needs.
func TestRESPSettings(t *testing.T) {
	for _, c := range []struct {
		flags map[string]string
		want  string // in the error; "" means that there is none
	}{
		{map[string]string{"resp.listen": "127.0.0.1:6380"}, ""},
		{map[string]string{"resp.listen": "6380"}, `"6380" is no address`},
		{map[string]string{"resp.listen": "127.0.0.1:8080"}, "cannot have the same address as the API"},
		{map[string]string{"resp.listen": "127.0.0.1:6060", "admin": "127.0.0.1:6060"}, "cannot have the same address as the API"},
		{map[string]string{"resp.listen": "127.0.0.1:0", "listen": "127.0.0.1:0"}, ""},
		{map[string]string{"resp.listen": ":6380"}, "there are no tokens"},
		{map[string]string{"resp.listen": ":6380", "tokens.env": "TOKENS"}, "there is no TLS"},
		{map[string]string{"resp.listen": ":6380", "tokens.env": "TOKENS", "tls.off": "true"}, ""},
		{map[string]string{"resp.connections": "0"}, "0 is out of range"},
		{map[string]string{"resp.idle": "0s"}, "resp.idle of 0s is out of range"},
	} {
		env := func(name string) (string, bool) { return "a-token-of-16-bytes-or-more", name == "TOKENS" }
		_, err := config.Sources{Env: env, Flags: c.flags}.Load()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v: %v", c.flags, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: error %v, want %q", c.flags, err, c.want)
		}
	}
}
