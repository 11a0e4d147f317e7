package sluice_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// TestDegraded: a decision says when it was made without the store, and why it was
// denied.
func TestDegraded(t *testing.T) {
	for _, c := range []struct {
		policy  failover.Policy
		allowed bool
		reason  sluice.Reason
	}{
		{failover.Local, true, 0},
		{failover.Allow, true, 0},
		{failover.Deny, false, sluice.Unavailable},
	} {
		s := &outage{Store: memstore.New()}
		f, err := failover.New(s, memstore.New())
		if err != nil {
			t.Fatal(err)
		}
		k := sluice.NewKeyed(sluice.PerHour(2), sluice.WithLimits(sluice.PerMinute(5)), sluice.WithStore(f.WithPolicy(c.policy)))
		if d, err := k.Allow(t.Context(), "ann"); err != nil || !d.Allowed || d.Degraded {
			t.Errorf("%v: %+v, %v while all is well", c.policy, d, err)
		}
		s.down.Store(true)
		d, err := k.Allow(t.Context(), "ann")
		if err != nil || d.Allowed != c.allowed || !d.Degraded || d.Reason != c.reason {
			t.Errorf("%v: allowed %v, degraded %v, reason %q, error %v", c.policy, d.Allowed, d.Degraded, d.Reason, err)
		}
		if blind := c.policy != failover.Local; d.Blind != blind {
			t.Errorf("%v: blind %v, want %v", c.policy, d.Blind, blind)
		}
		if d, _ := k.AllowN(t.Context(), "ann", 3); d.Reason != sluice.Never {
			t.Errorf("%v: a cost above the limit is denied as %q", c.policy, d.Reason)
		}
		if _, err := k.Allow(t.Context(), ""); !errors.Is(err, sluice.ErrKey) {
			t.Errorf("%v: no key: %v", c.policy, err)
		}
		if c.policy == failover.Deny {
			if err := k.Wait(t.Context(), "ann"); !errors.Is(err, sluice.ErrLimited) || !strings.Contains(err.Error(), "cannot be asked") {
				t.Errorf("wait: %v", err)
			}
		}
		s.down.Store(false)
		if d, err := k.Allow(context.Background(), "bob"); err != nil || d.Degraded {
			t.Errorf("%v: %+v, %v after the outage", c.policy, d, err)
		}
		_ = f.Close()
	}
}
