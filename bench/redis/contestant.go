// Package redis compares the library over Redis with its peers and with raw
// scripts: one server that the run starts itself, one process, one run,
// interleaved rounds.
//
// A [Contestant] is a library behind the small interface [Limiter]. Each has a
// client and a Redis database of its own, so that keys do not meet and the
// table that a decision looks into holds only its own keys.
package redis

import (
	"context"
	"net"
	"strconv"
	"time"
)

// Kind says on whose side a contestant is.
type Kind int

// The kinds of contestants.
const (
	Peer    Kind = iota // another library
	Ours                // the library under test
	Floor               // a raw script: the least work that Redis and a client allow
	Tuned               // a peer in a better configuration than its own: shown, never the best peer
	Variant             // ours in another configuration: shown for comparison
)

// String returns the kind's name.
func (k Kind) String() string { return [...]string{"peer", "ours", "floor", "tuned", "variant"}[k] }

// Quota is what a contestant has to enforce.
type Quota struct {
	Count  int64
	Period time.Duration
	Burst  int64
}

// The quotas of the cases.
var (
	// roomy never denies and refills so slowly that a key which was asked for
	// once still carries information at the end of the run: it does not expire.
	roomy = Quota{Count: 1, Period: time.Minute, Burst: 50_000_000}
	// hundred is the quota of the hot key that is denied.
	hundred = Quota{Count: 100, Period: time.Second, Burst: 100}
	// once does not refill within a run.
	once = Quota{Count: 1, Period: 24 * time.Hour, Burst: 1_000}
	// plenty never denies, however fast the decisions come.
	plenty = Quota{Count: 1_000_000_000, Period: time.Second, Burst: 1_000_000_000}
	// shared is the quota that a fleet with leases shares.
	shared = Quota{Count: 1_000_000, Period: time.Second, Burst: 100_000}
)

// window is the quota for libraries that know only "n per window".
func (q Quota) window() (int64, time.Duration) {
	if q.Burst > q.Count {
		return q.Burst, max(q.Period, time.Hour)
	}
	return q.Count, q.Period
}

// perToken is the time in which one token comes back.
func (q Quota) perToken() time.Duration { return q.Period / time.Duration(q.Count) }

// Limiter decides about keys. Take makes one decision per key and returns how
// many were admitted; with an error none of them was decided. It may be called
// from several goroutines at once.
type Limiter interface {
	Take(ctx context.Context, keys []string) (admitted int, err error)
	Close()
}

// Env is where a contestant finds its Redis.
type Env struct {
	Host string
	Port int
	DB   int
}

func (e Env) addr() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// Contestant is a library in one configuration.
type Contestant struct {
	Name   string
	Module string // import path of the module, for the version in the header
	Kind   Kind
	// Doubt says why the contestant is known not to be exact, whatever the
	// check in this run shows. Empty: the check decides.
	Doubt string
	// Note is printed beside the figures.
	Note string
	// Batch is the number of keys per call; 0 means 1.
	Batch int
	// MaxCallers bounds the number of callers; 0 means no bound.
	MaxCallers int
	// Open connects a limiter.
	Open func(Env, Quota) (Limiter, error)
}

// Contestants returns the library under test, the floors and all peers.
func Contestants() []Contestant {
	all := append(ours(), floors()...)
	all = append(all, scriptPeers()...)
	return append(all, otherPeers()...)
}
