package sluicerueidis

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"
)

// ErrLifetime is returned by [Open] for options by which scripts could run twice.
var ErrLifetime = errors.New("ConnLifetime must not be set: a connection that breaks while it expires sends its scripts again")

// What [Open] sets where the caller left zero.
const (
	dialTimeout = time.Second
	// connTimeout ends connections whose server has stopped answering. Decisions
	// have a deadline of their own, which is much shorter.
	connTimeout = time.Second
	// flushDelay lets scripts of many callers leave in one system call.
	flushDelay = 20 * time.Microsecond
	// bufferSize holds many scripts and answers; the default is 512 KiB each.
	bufferSize = 64 << 10
)

// Open connects to the servers in option.InitAddress: one address of a standalone
// server, some of a Cluster, or the Sentinels if option.Sentinel.MasterSet is set.
//
// Fields that matter to a limiter and were left zero are filled in: timeouts of a
// second for connecting and for a silent server, buffers of 64 KiB, and a pause
// of 20 µs between two flushes. Client-side caching and sending again are always
// off.
func Open(option rueidis.ClientOption) (*Scripter, error) {
	if option.ConnLifetime != 0 {
		return nil, fmt.Errorf("sluicerueidis: open: %w", ErrLifetime)
	}
	client, err := rueidis.NewClient(withDefaults(option))
	if err != nil {
		return nil, fmt.Errorf("sluicerueidis: open: %w", err)
	}
	return New(client), nil
}

// withDefaults fills in what the caller left zero.
func withDefaults(option rueidis.ClientOption) rueidis.ClientOption {
	option.DisableCache = true
	option.DisableRetry = true
	option.ReadBufferEachConn = cmp.Or(option.ReadBufferEachConn, bufferSize)
	option.WriteBufferEachConn = cmp.Or(option.WriteBufferEachConn, bufferSize)
	option.ConnWriteTimeout = cmp.Or(option.ConnWriteTimeout, connTimeout)
	option.MaxFlushDelay = cmp.Or(option.MaxFlushDelay, flushDelay)
	option.Dialer.Timeout = cmp.Or(option.Dialer.Timeout, dialTimeout)
	return option
}
