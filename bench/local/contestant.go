// Package local compares the library with its peers and with the physical
// floors of package floor: in one process, in one run, in interleaved rounds.
//
// A [Contestant] is a library behind two small interfaces, [Single] for one
// limiter and [Keyed] for many. Both take a batch of decisions per call and
// loop inside, so that the harness adds no indirect call to a decision.
package local

import "time"

// Kind says on whose side a contestant is.
type Kind int

// The kinds of contestants.
const (
	Peer  Kind = iota // another library
	Ours              // the library under test
	Floor             // the least work that hardware and simple Go allow
)

// String returns the kind's name.
func (k Kind) String() string { return [...]string{"peer", "ours", "floor"}[k] }

// MarshalText makes the kind readable in JSON.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Model says what a contestant promises, hence how it can be checked.
type Model int

// The models.
const (
	Tokens   Model = iota // a bucket that fills continuously
	Windows               // a quota per window
	Blocking              // it only makes the caller wait
	Adaptive              // it has no rate at all
)

// String returns the model's name.
func (m Model) String() string {
	return [...]string{"token bucket", "window", "blocks only", "adaptive"}[m]
}

// Quota is what a contestant has to enforce.
type Quota struct {
	Count  int64
	Period time.Duration
	Burst  int64
}

// The quotas of the speed cases.
var (
	// plenty never denies one limiter.
	plenty = Quota{Count: 1_000_000_000, Period: time.Second, Burst: 1_000_000_000}
	// drained denies everything but the first request of a day.
	drained = Quota{Count: 1, Period: 24 * time.Hour, Burst: 1}
	// roomy never denies a key and refills so slowly that a key which has
	// been asked for once still carries information at the end of the run:
	// no store may drop it as idle.
	roomy = Quota{Count: 1, Period: time.Minute, Burst: 50_000_000}
)

// perToken is the time in which one token comes back.
func (q Quota) perToken() time.Duration { return q.Period / time.Duration(q.Count) }

// perSecond is the rate in tokens per second.
func (q Quota) perSecond() float64 { return float64(q.Count) / q.Period.Seconds() }

// window is the quota for libraries that know only "n per window".
func (q Quota) window() (int64, time.Duration) {
	if q.Burst > q.Count || q == plenty {
		return q.Burst, time.Hour
	}
	return q.Count, q.Period
}

// Tally counts the outcomes of a batch of decisions.
type Tally struct {
	Admitted int64 `json:"admitted"`
	Denied   int64 `json:"denied"`
	Errors   int64 `json:"errors"`
}

// Total is the number of decisions.
func (t Tally) Total() int64 { return t.Admitted + t.Denied + t.Errors }

func (t *Tally) add(o Tally) {
	t.Admitted += o.Admitted
	t.Denied += o.Denied
	t.Errors += o.Errors
}

func (t *Tally) count(ok bool) {
	if ok {
		t.Admitted++
	} else {
		t.Denied++
	}
}

func (t *Tally) countErr(ok bool, err error) {
	if err != nil {
		t.Errors++
		return
	}
	t.count(ok)
}

// Single is one limiter. Run makes n decisions and may be called from several
// goroutines at once.
type Single interface{ Run(n int) Tally }

// Keyed is a set of limiters. Run makes one decision for every KeyLen bytes of
// seq and may be called from several goroutines at once.
type Keyed interface{ Run(seq string) Tally }

// closer is implemented by contestants that hold goroutines or global state.
type closer interface{ Close() }

func closeAny(v any) {
	if c, ok := v.(closer); ok {
		c.Close()
	}
}

// Contestant is a library in one configuration.
type Contestant struct {
	Name   string
	Module string // import path of the module, for the version in the header
	Kind   Kind
	Model  Model
	// Doubt says why the contestant is known not to be exact, whatever the
	// check in this run shows. Empty: the check decides.
	Doubt string
	// Note is printed beside the figures, KeyedNote beside those with keys.
	Note, KeyedNote string
	// Like names the contestant whose check counts for this one too.
	Like string
	// NewSingle builds one limiter; nil if the library has no such thing.
	NewSingle func(Quota) Single
	// NewKeyed builds limiters for about the given number of keys; nil if
	// keys make no sense for the library.
	NewKeyed func(q Quota, keys int) Keyed
}

// Contestants returns the library under test, the floors and all peers.
func Contestants() []Contestant {
	all := append(ours(), floors()...)
	all = append(all, bucketPeers()...)
	all = append(all, storePeers()...)
	all = append(all, webPeers()...)
	return append(all, sentinelPeers()...)
}
