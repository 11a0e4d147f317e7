package sluicerueidis

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice/store/redisstore"
)

var _ redisstore.Scripter = (*Scripter)(nil)

// TestOpenRefusesLifetime: connections that expire may send scripts twice.
func TestOpenRefusesLifetime(t *testing.T) {
	_, err := Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:1"}, ConnLifetime: time.Hour})
	if !errors.Is(err, ErrLifetime) {
		t.Errorf("error %v", err)
	}
}

// TestOpenFails: an address where nobody listens is an error that says so.
func TestOpenFails(t *testing.T) {
	if _, err := Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:1"}}); err == nil {
		t.Error("connected to nobody")
	}
}

// TestDefaults: what the caller has set stays, except what would break promises.
func TestDefaults(t *testing.T) {
	got := withDefaults(rueidis.ClientOption{})
	if !got.DisableCache || !got.DisableRetry || got.ReadBufferEachConn != bufferSize || got.WriteBufferEachConn != bufferSize ||
		got.ConnWriteTimeout != connTimeout || got.MaxFlushDelay != flushDelay || got.Dialer.Timeout != dialTimeout {
		t.Errorf("filled in: %+v", got)
	}
	given := rueidis.ClientOption{ReadBufferEachConn: 1 << 20, WriteBufferEachConn: 1 << 21, ConnWriteTimeout: 5, MaxFlushDelay: 6, AlwaysPipelining: true}
	given.Dialer.Timeout = 7
	got = withDefaults(given)
	if got.ReadBufferEachConn != 1<<20 || got.WriteBufferEachConn != 1<<21 || got.ConnWriteTimeout != 5 ||
		got.MaxFlushDelay != 6 || got.Dialer.Timeout != 7 || !got.AlwaysPipelining {
		t.Errorf("kept: %+v", got)
	}
}
