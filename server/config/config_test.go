package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/server/config"
)

// write makes a rule file with this section.
func write(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte("rules: []\nserver:\n"+server), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func TestPrecedence(t *testing.T) {
	path := write(t, "  listen: 127.0.0.1:1\n  memory: 2MiB\n  lease: {on: false, age: 20ms}\n")
	s := config.Sources{
		Path: path,
		Env:  environment(map[string]string{"SLUICE_LISTEN": "127.0.0.1:2", "SLUICE_LOG_LEVEL": "debug", "SLUICE_LEASE_ON": "true", "SLUICE_PREFIX": ""}),
		Flags: map[string]string{
			"listen": "127.0.0.1:3",
		},
	}
	l, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := l.Config
	for _, tt := range []struct{ what, got, want string }{
		{"flag before environment", c.Listen, "127.0.0.1:3"},
		{"environment before default", c.Log.Level, "debug"},
		{"file before default", c.Memory.String(), "2MiB"},
		{"a neighbour of the file's field", time.Duration(c.Lease.Age).String(), "20ms"},
		{"default", c.Log.Format, "text"},
		{"an empty variable is none", c.Prefix, "sluice"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, tt.got, tt.want)
		}
	}
	if !c.Lease.On {
		t.Error("environment before file: lease.on is false")
	}
}

func TestWithoutAnything(t *testing.T) {
	l, err := config.Sources{}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if l.Config.Listen != "127.0.0.1:8080" || l.Config.Redis != "" || l.Tokens != nil || len(l.Secret) < 16 {
		t.Errorf("%+v", l.Config)
	}
	if len(l.Rules.Config.Rules) == 0 || l.Rules.Files[0] != config.BuiltIn {
		t.Errorf("the sample has %d rules, from %v", len(l.Rules.Config.Rules), l.Rules.Files)
	}
	for _, r := range rulefile.RunTests(l.Rules) {
		if !r.Passed() {
			t.Error(r)
		}
	}
	if len(l.Rules.Warnings) > 0 {
		t.Error(l.Rules.Warnings)
	}
}

func TestProblemsNameTheirPlace(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		env, flags map[string]string
		want       []string // parts of the error
	}{
		{"not loopback, file", "  log: {level: info}\n  listen: 0.0.0.0:80\n", nil, nil, []string{"rules.yaml:4:11: ", "no tokens", "--tokens-file"}},
		{"not loopback, variable", "  {}\n", map[string]string{"SLUICE_LISTEN": ":8080"}, nil, []string{"SLUICE_LISTEN: ", "no tokens"}},
		{"not loopback, flag", "  {}\n", nil, map[string]string{"listen": "example.com:80"}, []string{"--listen: ", "no tokens"}},
		{"not loopback, no TLS", "  listen: 0.0.0.0:80\n  tokens: {env: T}\n", map[string]string{"T": "0123456789abcdef"}, nil, []string{"rules.yaml:3:11: ", "no TLS", "--tls-off"}},
		{"nothing at all", "  listen: 0.0.0.0:80\n", nil, nil, []string{"no tokens", "tls.cert"}},
		{"a certificate that is off", "  tls: {cert: a, key: b, off: true}\n", nil, nil, []string{"rules.yaml:3:31: there is a certificate, and TLS is off"}},
		{"no address", "  listen: here\n", nil, nil, []string{`rules.yaml:3:11: "here" is no address`, "hint: write host:port"}},
		{"no port", "  listen: 127.0.0.1:http\n", nil, nil, []string{`"http" is no port`}},
		{"admin for all", "  admin: 0.0.0.0:6060\n", nil, nil, []string{"rules.yaml:3:10: ", "profiles ask for no token"}},
		{"unknown field", "  listne: x\n", nil, nil, []string{`rules.yaml:3:3: unknown field "listne"`, `"listen"`}},
		{"wrong kind", "  memory: 100\n", nil, nil, []string{"rules.yaml:3:11: the size 100 has no unit"}},
		{"no duration", "  {}\n", map[string]string{"SLUICE_DEADLINE": "50"}, nil, []string{`SLUICE_DEADLINE: "50" is no duration`}},
		{"no bool", "  {}\n", nil, map[string]string{"lease.on": "yes"}, []string{`--lease-on: "yes" is neither`}},
		{"no number", "  {}\n", nil, map[string]string{"limits.in_flight": "many"}, []string{`--limits-in-flight: "many" is no whole number`}},
		{"out of range", "  deadline: 2h\n  lease: {age: 1ms}\n", nil, nil, []string{"rules.yaml:3:13: deadline of 2h0m0s is out of range", "rules.yaml:4:16: lease.age"}},
		{"one of some", "  log: {format: xml}\n", nil, nil, []string{`rules.yaml:3:17: log.format cannot be "xml"`, "text, json"}},
		{"half of TLS", "  tls: {cert: a.pem}\n", nil, nil, []string{"there is a certificate, but no key"}},
		{"no Redis", "  redis: http://example.com\n", nil, nil, []string{`"http" is no scheme of Redis`}},
		{"unknown parameter", "  redis: redis://h?retry=1\n", nil, nil, []string{`the parameter "retry" is not known`}},
		{"several addresses", "  redis: redis://h:1?addr=h:2\n", nil, nil, []string{"cluster=true"}},
		{"hash without secret", "  redis: redis://h\n  keys: {hash: true}\n", nil, nil, []string{"rules.yaml:4:16: there is no secret"}},
		{"two places", "  tokens: {env: A, file: b}\n", nil, nil, []string{"a variable and a file are both named"}},
		{"no tokens there", "  tokens: {env: NONE}\n", nil, nil, []string{"rules.yaml:3:17: variable NONE is empty or not set"}},
		{"a short token", "  tokens: {env: T}\n", map[string]string{"T": "sh0rt"}, nil, []string{"a token in line 1 has 5 characters"}},
		{"no file of tokens", "  {}\n", nil, map[string]string{"tokens.file": "/no/such"}, []string{"--tokens-file: ", "/no/such"}},
		{"share", "  log: {decisions: 2}\n", nil, nil, []string{"rules.yaml:3:20: log.decisions cannot be 2"}},
		{"prefix", "  prefix: 'a b'\n", nil, nil, []string{`the prefix "a b" cannot be`}},
		{"body", "  limits: {body: 1B, connections: 0}\n", nil, nil, []string{"1B is out of range", "0 is out of range"}},
		{"memory", "  memory: 1KiB\n  split: {assume: 0, group: ''}\n", nil, nil, []string{"1KiB is too little", "0 is out of range", "name of the group"}},
		{"everybody trusted", "  forward_auth: {trusted: [10.0.0.0/8, 0.0.0.0/0]}\n", nil, nil, []string{"rules.yaml:3:27: 0.0.0.0/0 trusts everybody", "your proxies"}},
		{"no network", "  {}\n", nil, map[string]string{"forward_auth.trusted": "10.0.0.0/8 proxy"}, []string{`--forward-auth-trusted: proxy "proxy" is no address`}},
		{"no list", "  forward_auth: {trusted: {a: b}}\n", nil, nil, []string{"rules.yaml:3:", "no list of networks"}},
		{"same address", "  admin: 127.0.0.1:8080\n", nil, nil, []string{"cannot have the same address"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Sources{Path: write(t, tt.file), Env: environment(tt.env), Flags: tt.flags}.Load()
			var problems rulefile.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("err = %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q:\n%v", part, err)
				}
			}
			if strings.Contains(err.Error(), "sh0rt") {
				t.Error("the error shows a token")
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	const token, other, secret = "0123456789abcdef", "fedcba9876543210", "a secret of some length"
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("# of the team\n"+token+" # ann\n\n"+other+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Sources{
		Path: write(t, "  listen: :8080\n  tls: {off: true}\n  redis: redis://h\n  keys: {hash: true, secret: {env: S}}\n  tokens: {file: "+file+"}\n"),
		Env:  environment(map[string]string{"S": secret + "\n"}),
	}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Tokens) != 2 || l.Tokens[0] != token || l.Tokens[1] != other || string(l.Secret) != secret {
		t.Errorf("tokens %q, secret %q", l.Tokens, l.Secret)
	}
}

func TestRulesThatHashNeedASecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	rules := "rules: [{name: a, key: [user], hash: true, limits: [1/s]}]\n"
	load := func(server string) error {
		if err := os.WriteFile(path, []byte(rules+server), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Sources{Path: path}.Load()
		return err
	}
	if err := load(""); err != nil {
		t.Errorf("in memory any secret will do: %v", err)
	}
	if err := load("server: {redis: 'redis://h'}\n"); err == nil || !strings.Contains(err.Error(), "--keys-secret-file") {
		t.Errorf("err = %v", err)
	}
}

func TestMissingFile(t *testing.T) {
	_, err := config.Sources{Path: filepath.Join(t.TempDir(), "none.yaml")}.Load()
	var problems rulefile.Problems
	if !errors.As(err, &problems) || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("err = %v", err)
	}
}

func TestUnknown(t *testing.T) {
	got := config.Unknown([]string{"PATH=/bin", "SLUICE_LISTEN=x", "SLUICE_LISTNE=x", "SLUICE_PORT=tcp://1", "SLUICE_SERVICE_HOST=1", "SLUICE_CONFIG=x"}, "SLUICE_CONFIG")
	if len(got) != 1 || got[0] != "SLUICE_LISTNE" {
		t.Errorf("unknown: %v", got)
	}
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "localhost:1": true, "[::ffff:127.0.0.1]:1": true,
		":1": false, "0.0.0.0:1": false, "[::]:1": false, "192.0.2.1:1": false, "example.com:1": false, "127.0.0.1": false,
	} {
		if got := config.Loopback(address); got != want {
			t.Errorf("Loopback(%q) = %v", address, got)
		}
	}
}

func TestParseRedis(t *testing.T) {
	single, err := config.ParseRedis("rediss://ann:pw@h:6380/3?client_name=x")
	if err != nil || !single.Option.ForceSingleClient || single.Option.SelectDB != 3 || single.Option.TLSConfig == nil || single.Option.Password != "pw" {
		t.Errorf("%+v, %v", single, err)
	}
	cluster, err := config.ParseRedis("redis://h:1?addr=h:2&cluster=true")
	if err != nil || !cluster.Cluster || len(cluster.Option.InitAddress) != 2 || cluster.Option.ForceSingleClient {
		t.Errorf("%+v, %v", cluster, err)
	}
	sentinel, err := config.ParseRedis("redis://h:1?addr=h:2&master_set=m")
	if err != nil || sentinel.Option.Sentinel.MasterSet != "m" {
		t.Errorf("%+v, %v", sentinel, err)
	}
	for _, bad := range []string{"redis://user:se:cret@h:x", "redis://h?cluster=maybe", "redis://h/1?cluster=true", "redis://h?cluster=true&master_set=m", "redis://h/a/b", "::"} {
		if _, err := config.ParseRedis(bad); err == nil || strings.Contains(err.Error(), "cret") {
			t.Errorf("ParseRedis(%q): %v", bad, err)
		}
	}
}
