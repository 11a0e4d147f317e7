package config

import (
	"slices"
	"time"
)

// Settings returns all settings, in the order in which they are documented.
func Settings() []Setting { return slices.Clone(settings) }

// Lookup returns the setting with this name, or nil.
func Lookup(name string) *Setting {
	for i := range settings {
		if settings[i].Name == name {
			return &settings[i]
		}
	}
	return nil
}

// settings is the one table of them. No name may be port, service or begin with one of
// those: in Kubernetes a service called sluice sets SLUICE_PORT and SLUICE_SERVICE_HOST.
var settings = []Setting{
	{
		Name: "listen", field: func(c *Config) any { return &c.Listen }, check: checkListen,
		Help: "Address of the API. Other than a loopback address it needs tokens, and TLS.",
	},
	{
		Name: "admin", field: func(c *Config) any { return &c.Admin }, check: checkAdmin,
		Help: "Loopback address for profiles (/debug/pprof/); empty: there are none.",
	},
	{
		Name: "tls.cert", field: func(c *Config) any { return &c.TLS.Cert }, check: checkCert,
		Help: "File with the certificate chain, in PEM form. It is read again when it changes.",
	},
	{
		Name: "tls.key", field: func(c *Config) any { return &c.TLS.Key }, check: checkKey,
		Help: "File with the key of the certificate.",
	},
	{
		Name: "tls.off", field: func(c *Config) any { return &c.TLS.Off }, check: checkNoTLS,
		Help: "Do without TLS on an address that other machines can reach, because a proxy in front has it or the network is private. Tokens go over the wire as they are.",
	},
	{
		Name: "tokens.env", field: func(c *Config) any { return &c.Tokens.Env }, check: checkTokens,
		Help: "Name of the environment variable that holds the bearer tokens, separated by spaces.",
	},
	{
		Name: "tokens.file", field: func(c *Config) any { return &c.Tokens.File },
		Help: "File with bearer tokens, one per line; # begins a comment. A reload reads it again.",
	},
	{
		Name: "redis", field: func(c *Config) any { return &c.Redis }, check: checkRedis,
		Help: "Where instances share their budgets: redis://user:password@host:6379/0, rediss:// with TLS; &addr=host:port for more addresses, master_set=NAME for Sentinel, cluster=true for Cluster. Empty: in the memory of this process.",
	},
	{
		Name: "prefix", field: func(c *Config) any { return &c.Prefix }, check: checkPrefix,
		Help: "What the names of all keys in Redis begin with. Instances that share budgets need the same.",
	},
	{
		Name: "deadline", field: func(c *Config) any { return &c.Deadline }, check: between("deadline", time.Millisecond, time.Minute, func(c *Config) time.Duration { return time.Duration(c.Deadline) }),
		Help: "How long Redis may take for a decision; after that the rule's on_store_error decides.",
	},
	{
		Name: "keys.hash", field: func(c *Config) any { return &c.Keys.Hash }, check: checkHash,
		Help: "Hash all keys before they go to Redis. Needs a secret.",
	},
	{
		Name: "keys.secret.env", field: func(c *Config) any { return &c.Keys.Secret.Env }, check: checkSecret,
		Help: "Name of the environment variable with the secret (16 bytes or more) by which keys are hashed: with keys.hash, and of rules that say hash.",
	},
	{
		Name: "keys.secret.file", field: func(c *Config) any { return &c.Keys.Secret.File },
		Help: "File with that secret. Instances that share budgets need the same.",
	},
	{
		Name: "lease.on", field: func(c *Config) any { return &c.Lease.On },
		Help: "Take tokens of hot keys from Redis ahead, in batches. The limits still hold.",
	},
	{
		Name: "lease.age", field: func(c *Config) any { return &c.Lease.Age }, check: between("lease.age", 5*time.Millisecond, 10*time.Second, func(c *Config) time.Duration { return time.Duration(c.Lease.Age) }),
		Help: "For how long a batch is kept. Instances that share budgets need the same.",
	},
	{
		Name: "split.group", field: func(c *Config) any { return &c.Split.Group }, check: checkGroup,
		Help: "Instances with the same group divide the limits of scope split among each other. They find each other through Redis.",
	},
	{
		Name: "split.assume", field: func(c *Config) any { return &c.Split.Assume }, check: checkAssume,
		Help: "How many instances there are as long as Redis has not been reached; without Redis, always.",
	},
	{
		Name: "split.hold", field: func(c *Config) any { return &c.Split.Hold }, check: between("split.hold", 3*time.Millisecond, 24*time.Hour, func(c *Config) time.Duration { return time.Duration(c.Split.Hold) }),
		Help: "After how long without a sign of life an instance counts as dead.",
	},
	{
		Name: "memory", field: func(c *Config) any { return &c.Memory }, check: atLeastMemory(func(c *Config) Size { return c.Memory }),
		Help: "Memory for keys in this process; at the cap those that matter least are forgotten. Keep it below half of GOMEMLIMIT.",
	},
	{
		Name: "instance_memory", field: func(c *Config) any { return &c.InstanceMemory }, check: atLeastMemory(func(c *Config) Size { return c.InstanceMemory }),
		Help: "The same for keys of limits that are not the fleet's: so much for those of scope instance, and so much for those of scope split.",
	},
	{
		Name: "forward_auth.trusted", field: func(c *Config) any { return &c.ForwardAuth.Trusted }, check: checkTrusted,
		Help: "Networks from which nginx, Caddy, HAProxy or Traefik may ask at /forward-auth/, which needs no token. What their header fields say of a request is believed.",
	},
	{
		Name: "resp.listen", field: func(c *Config) any { return &c.RESP.Listen }, check: checkRESP,
		Help: "Address for Redis clients, such as 127.0.0.1:6380; empty: there is none. Other than a loopback address it needs tokens, and TLS. --resp is short for the flag.",
	},
	{
		Name: "resp.connections", field: func(c *Config) any { return &c.RESP.Connections }, check: checkRESPConnections,
		Help: "How many Redis clients are connected at the same time; more get an error and are disconnected.",
	},
	{
		Name: "resp.idle", field: func(c *Config) any { return &c.RESP.Idle }, check: between("resp.idle", time.Second, 30*24*time.Hour, func(c *Config) time.Duration { return time.Duration(c.RESP.Idle) }),
		Help: "After how long without a request a Redis client is disconnected.",
	},
	{
		Name: "grpc.listen", field: func(c *Config) any { return &c.GRPC.Listen }, check: checkGRPC,
		Help: "Address of Envoy's rate-limit service, such as 127.0.0.1:8081, which it has too if only envoy.config is set; empty: there is none. Other than a loopback address it needs grpc.client_ca, tokens and TLS, or grpc.trusted. --grpc is short for the flag.",
	},
	{
		Name: "grpc.client_ca", field: func(c *Config) any { return &c.GRPC.ClientCA }, check: checkClientCA,
		Help: "File with the certificates, in PEM form, by which those of clients of that service have to be signed. They need no token then. Needs TLS.",
	},
	{
		Name: "grpc.trusted", field: func(c *Config) any { return &c.GRPC.Trusted },
		Help: "Whoever reaches that service may ask, without token and certificate: only Envoy can reach it.",
	},
	{
		Name: "grpc.headers", field: func(c *Config) any { return &c.GRPC.Headers }, check: checkGRPCHeaders,
		Help: "Names of the three response header fields in which Envoy tells clients of the tightest limit: RateLimit-Limit,RateLimit-Remaining,RateLimit-Reset. Empty: none.",
	},
	{
		Name: "grpc.metadata", field: func(c *Config) any { return &c.GRPC.Metadata },
		Help: "Answers of that service have dynamic metadata: the descriptors, and the metadata of those that allow.",
	},
	{
		Name: "grpc.late_costs", field: func(c *Config) any { return &c.GRPC.LateCosts },
		Help: "A call whose descriptors all bring their own hits_addend tells what was used already, as with apply_on_stream_done of Envoy: if that does not fit, it takes what is left.",
	},
	{
		Name: "envoy.config", field: func(c *Config) any { return &c.Envoy.Config },
		Help: "File or folder with descriptors in the form of envoyproxy/ratelimit. It is read again when it changes.",
	},
	{
		Name: "envoy.merge", field: func(c *Config) any { return &c.Envoy.Merge },
		Help: "Several of these files may have the same domain.",
	},
	{
		Name: "envoy.zone", field: func(c *Config) any { return &c.Envoy.Zone }, check: checkZone,
		Help: "Time zone of the days, weeks, months and years of these limits, such as Europe/Berlin; empty: UTC.",
	},
	{
		Name: "envoy.quota_mode", field: func(c *Config) any { return &c.Envoy.QuotaMode },
		Help: "All of these descriptors are in quota mode: a request is refused if none of its limits has room.",
	},
	{
		Name: "record.memory", field: func(c *Config) any { return &c.Record.Memory }, check: checkRecord,
		Help: "Memory for a record of recent traffic, by which sluice preview tells what another limit would have done: 16 bytes for each decision of a rule, without names. At the cap the oldest is forgotten; 0B: there is none.",
	},
	{
		Name: "record.age", field: func(c *Config) any { return &c.Record.Age }, check: between("record.age", time.Minute, 7*24*time.Hour, func(c *Config) time.Duration { return time.Duration(c.Record.Age) }),
		Help: "For how long it remembers.",
	},
	{
		Name: "limits.body", field: func(c *Config) any { return &c.Limits.Body }, check: checkBody,
		Help: "The longest body of a request.",
	},
	{
		Name: "limits.in_flight", field: func(c *Config) any { return &c.Limits.InFlight }, check: checkInFlight,
		Help: "How many requests are worked on at the same time, from when their body is there; more get 503 and Retry-After at once (gRPC: UNAVAILABLE, RESP: BUSY).",
	},
	{
		Name: "limits.connections", field: func(c *Config) any { return &c.Limits.Connections }, check: checkConnections,
		Help: "How many connections are open at the same time. More take the places of those that have shown no token yet, the oldest first, or wait. At the API and at the gRPC service, each by itself.",
	},
	{
		Name: "shutdown", field: func(c *Config) any { return &c.Shutdown }, check: between("shutdown", 0, time.Hour, func(c *Config) time.Duration { return time.Duration(c.Shutdown) }),
		Help: "How long requests that are under way may take when the server ends.",
	},
	{
		Name: "shadow_all", field: func(c *Config) any { return &c.ShadowAll },
		Help: "Start with every rule in shadow: all is decided and counted, nobody is refused.",
	},
	{
		Name: "log.format", field: func(c *Config) any { return &c.Log.Format }, values: []string{"text", "json"},
		Help: "text or json.",
	},
	{
		Name: "log.level", field: func(c *Config) any { return &c.Log.Level }, values: []string{"debug", "info", "warn", "error"},
		Help: "debug, info, warn or error.",
	},
	{
		Name: "log.decisions", field: func(c *Config) any { return &c.Log.Decisions }, check: share("log.decisions", func(c *Config) float64 { return c.Log.Decisions }),
		Help: "Share of decisions that are logged, from 0 (none) to 1 (all).",
	},
	{
		Name: "log.keys", field: func(c *Config) any { return &c.Log.Keys }, values: []string{KeysHashed, KeysPlain, KeysHidden},
		Help: "How keys stand in the log of decisions: hash, plain or none.",
	},
	{
		Name: "trace.endpoint", field: func(c *Config) any { return &c.Trace.Endpoint }, check: checkTrace,
		Help: "Where spans go, by OTLP over HTTP: http://127.0.0.1:4318/v1/traces. Empty: there are none.",
	},
	{
		Name: "trace.share", field: func(c *Config) any { return &c.Trace.Share }, check: share("trace.share", func(c *Config) float64 { return c.Trace.Share }),
		Help: "Share of requests that get a span, from 0 to 1, where the caller has not decided it for the whole trace.",
	},
	{
		Name: "audit", field: func(c *Config) any { return &c.Audit },
		Help: "File to which every change of rules and budgets is appended as a line of JSON; empty: the last 1,000 of each are kept in memory only.",
	},
}
