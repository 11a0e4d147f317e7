package config_test

import (
	"slices"
	"testing"

	"github.com/sluice-limiter/sluice/server/config"
)

func TestNetworks(t *testing.T) {
	for name, s := range map[string]config.Sources{
		"list":     {Path: write(t, "  forward_auth: {trusted: [10.0.0.0/8, '2001:db8::1']}\n")},
		"text":     {Path: write(t, "  forward_auth: {trusted: '10.0.0.0/8 2001:db8::1'}\n")},
		"variable": {Env: environment(map[string]string{"SLUICE_FORWARD_AUTH_TRUSTED": " 10.0.0.0/8,  2001:db8::1"})},
		"flag":     {Flags: map[string]string{"forward_auth.trusted": "10.0.0.0/8 2001:db8::1"}},
	} {
		l, err := s.Load()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		trusted, err := l.Config.ForwardAuth.Trusted.Prefixes()
		if err != nil || len(trusted) != 2 || trusted[1].Bits() != 128 {
			t.Errorf("%s: %v, %v", name, trusted, err)
		}
	}
	l, err := config.Sources{Path: write(t, "  forward_auth: {trusted: []}\n")}.Load()
	if err != nil || len(l.Config.ForwardAuth.Trusted) != 0 {
		t.Errorf("nobody: %v, %v", l, err)
	}
	if !slices.Equal(config.Defaults().ForwardAuth.Trusted, []string{"127.0.0.0/8", "::1"}) {
		t.Error("others than this machine are trusted")
	}
}
