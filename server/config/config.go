// Package config holds the settings of the server: from the section "server" of the
// rule file, from SLUICE_* variables of the environment, and from flags. A flag beats
// the environment, which beats the file, which beats the default. One table, [Settings],
// says all of it; help texts and documentation are made from it.
package config

import (
	"time"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/lease"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/split"
)

// Config is the section "server" of a rule file. Settings tells what each field means.
type Config struct {
	Listen string `json:"listen"`
	Admin  string `json:"admin"`
	TLS    TLS    `json:"tls"`
	Tokens Secret `json:"tokens"`

	Redis    string        `json:"redis"`
	Prefix   string        `json:"prefix"`
	Deadline rule.Duration `json:"deadline"`
	Keys     Keys          `json:"keys"`
	Lease    Lease         `json:"lease"`
	Split    Split         `json:"split"`
	Memory   Size          `json:"memory"`
	// InstanceMemory is for each of the scopes instance and split.
	InstanceMemory Size `json:"instance_memory"`

	ForwardAuth ForwardAuth `json:"forward_auth"`
	RESP        RESP        `json:"resp"`
	GRPC        GRPC        `json:"grpc"`
	Envoy       Envoy       `json:"envoy"`

	Record Record `json:"record"`

	Limits    Limits        `json:"limits"`
	Shutdown  rule.Duration `json:"shutdown"`
	ShadowAll bool          `json:"shadow_all"`
	Log       Log           `json:"log"`
	Trace     Trace         `json:"trace"`
	Audit     string        `json:"audit"`
}

// TLS names the files of a certificate and its key, or says that tokens are safe
// without.
type TLS struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
	Off  bool   `json:"off"`
}

// Secret says where a secret is: it never stands in the configuration itself.
type Secret struct {
	Env  string `json:"env"`
	File string `json:"file"`
}

// Keys says how keys are hidden.
type Keys struct {
	Hash   bool   `json:"hash"`
	Secret Secret `json:"secret"`
}

// Lease is about tokens taken ahead.
type Lease struct {
	On  bool          `json:"on"`
	Age rule.Duration `json:"age"`
}

// Split is about the other instances.
type Split struct {
	Group  string        `json:"group"`
	Assume int           `json:"assume"`
	Hold   rule.Duration `json:"hold"`
}

// ForwardAuth is about proxies that ask before they let a request pass.
type ForwardAuth struct {
	Trusted Networks `json:"trusted"`
}

// Record is about what is remembered of recent traffic, for previews of other limits.
type Record struct {
	Memory Size          `json:"memory"`
	Age    rule.Duration `json:"age"`
}

// Limits protect the server itself.
type Limits struct {
	Body        Size `json:"body"`
	InFlight    int  `json:"in_flight"`
	Connections int  `json:"connections"`
}

// Log is about what the server writes of itself.
type Log struct {
	Format    string  `json:"format"`
	Level     string  `json:"level"`
	Decisions float64 `json:"decisions"`
	Keys      string  `json:"keys"`
}

// Trace is about spans for OpenTelemetry.
type Trace struct {
	Endpoint string  `json:"endpoint"`
	Share    float64 `json:"share"`
}

// What Log.Keys can be.
const (
	KeysHashed = "hash"  // a short hash tells keys apart and names nobody
	KeysPlain  = "plain" // as they are
	KeysHidden = "none"
)

// Defaults returns what holds if nothing is set.
func Defaults() Config {
	return Config{
		Listen:   "127.0.0.1:8080",
		Prefix:   "sluice",
		Deadline: rule.Duration(failover.DefaultDeadline),
		Lease:    Lease{On: true, Age: rule.Duration(lease.DefaultAge)},
		Split:    Split{Group: "sluice", Assume: 1, Hold: rule.Duration(split.DefaultHold)},
		Memory:   memstore.DefaultMaxBytes,
		// Two of these and the one above stay below half of a GOMEMLIMIT of a gigabyte.
		InstanceMemory: 64 << 20,
		ForwardAuth:    ForwardAuth{Trusted: Networks{"127.0.0.0/8", "::1"}},
		Limits:         Limits{Body: 1 << 20, InFlight: 4096, Connections: 16384},
		RESP:           RESP{Connections: 10_000, Idle: rule.Duration(time.Hour)},
		Record:         Record{Memory: 32 << 20, Age: rule.Duration(time.Hour)},
		Shutdown:       rule.Duration(15 * time.Second),
		Log:            Log{Format: "text", Level: "info", Keys: KeysHashed},
		Trace:          Trace{Share: 1},
	}
}
