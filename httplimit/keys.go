package httplimit

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluice-limiter/sluice"
)

// keys decides by a Keyed.
type keys struct {
	config  *config
	keyed   *sluice.Keyed
	policy  atomic.Pointer[policy]
	waiters atomic.Int64
}

func newKeys(keyed *sluice.Keyed, c *config) *keys {
	if c.keyBy != nil && (c.source.header != "" || c.ipv6Bits != 64) {
		panic("httplimit: KeyBy makes the key, so that no other option can say what of the address it is made of (use ClientAddress inside of it)")
	}
	k := &keys{config: c, keyed: keyed}
	k.describe()
	return k
}

// describe writes down what clients are told of the limits.
func (k *keys) describe() *policy {
	limits := k.keyed.Limits()
	names := make([]string, len(limits))
	for i, l := range limits {
		switch {
		case i < len(k.config.names):
			names[i] = k.config.names[i]
		case len(limits) == 1:
			names[i] = "default"
		default:
			names[i] = l.String()
		}
	}
	p := newPolicy(k.config.dialect, names, limits)
	k.policy.Store(p)
	return p
}

func (k *keys) decide(r *http.Request) (a answer, err error) {
	key, ok := k.key(r)
	if !ok {
		a.Reason = sluice.MissingKey
		return a, nil
	}
	cost := int64(1)
	if k.config.costBy != nil {
		cost = k.config.costBy(r)
	}
	a.Decision.Decision, err = k.keyed.AllowN(r.Context(), key, cost)
	if err != nil {
		return a, err
	}
	if !a.Allowed && a.Reason == sluice.Limited {
		err = k.wait(r.Context(), key, cost, &a.Decision.Decision)
	}
	k.show(&a)
	return a, err
}

// show finds what to tell. The limits may have changed since that was written down.
func (k *keys) show(a *answer) {
	p := k.policy.Load()
	l := p.find(&a.Decision.Decision)
	if l == nil {
		p = k.describe()
		if l = p.find(&a.Decision.Decision); l == nil {
			return // they change this moment
		}
	}
	a.policy, a.limit, a.LimitName = p, l, l.name
}

func (k *keys) key(r *http.Request) (key string, ok bool) {
	if k.config.keyBy != nil {
		key, err := k.config.keyBy(r)
		return key, err == nil
	}
	peer, ok := parseAddress(r.RemoteAddr)
	addr := k.config.source.behind(r, peer, ok)
	if ok && addr == peer && addr.Is4() {
		// There is only one way to write an IPv4 address, so it need not be written anew.
		if host, _, _ := strings.Cut(r.RemoteAddr, ":"); strings.Count(host, ".") == 3 && host[0] != '[' {
			return host, true
		}
	}
	var buffer [64]byte
	return string(appendKey(buffer[:0], addr, k.config.ipv6Bits)), true
}

// Wait holds a request for up to max instead of refusing it at once; it leaves when
// the client does. At a leaky bucket requests always wait, as long as its queue and
// its MaxWait allow; with Wait not longer than max.
//
// For a [Transport], which waits as long as the request's context allows, it is how
// long it waits at most; 0 means never.
func Wait(longest time.Duration) WaitOption { return waitOption(longest) }

// WaitOption sets up [ByIP], [Middleware] and [Transport].
type WaitOption interface {
	KeyedOption
	TransportOption
}

type waitOption time.Duration

func (o waitOption) applyKeyed(c *config) { c.wait = time.Duration(o) }

// wait turns the denial d into an allowance if that takes no longer than it may.
func (k *keys) wait(ctx context.Context, key string, cost int64, d *sluice.Decision) error {
	longest := k.config.wait
	if longest <= 0 && d.Limit().Algorithm != sluice.LeakyBucket || longest > 0 && d.RetryAfter() > longest {
		return nil
	}
	if k.waiters.Add(1) > k.config.maxWaiters {
		k.waiters.Add(-1)
		return nil
	}
	defer k.waiters.Add(-1)
	if longest > 0 {
		limited, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		ctx = limited
	}
	err := k.keyed.WaitN(ctx, key, cost)
	var refused *sluice.LimitedError
	switch {
	case err == nil:
		d.Allowed, d.Reason = true, 0
	case errors.As(err, &refused):
		*d = refused.Decision
	case longest > 0 && errors.Is(err, context.DeadlineExceeded):
		// d stands: its turn did not come in time
	default:
		return err
	}
	return nil
}
