package httplimit

import (
	"context"
	"net/http"
	"net/netip"
	"sync/atomic"

	"github.com/sluice-limiter/sluice"
)

// keys decides by a Keyed.
type keys struct {
	config  *config
	keyed   *sluice.Keyed
	known   atomic.Pointer[known]
	waiters waiters
}

// known is what follows from the limits. They may change while requests come in.
type known struct {
	plan   *sluice.Plan
	policy *policy
	bounds bounds
}

func newKeys(keyed *sluice.Keyed, c *config) *keys {
	if c.keyBy != nil && (c.source.header != "" || c.ipv6Bits != 64) {
		panic("httplimit: KeyBy makes the key, so that no other option can say what of the address it is made of (use ClientAddress inside of it)")
	}
	return &keys{config: c, keyed: keyed, waiters: newWaiters(c.maxWaiters)}
}

// of returns what is known of the limits by which d was decided.
func (k *keys) of(d *sluice.Decision) *known {
	if is := k.known.Load(); is != nil && is.plan == d.Plan() {
		return is
	}
	is := k.describe(d.Plan())
	k.known.Store(is)
	return is
}

// describe writes down what clients are told of the limits.
func (k *keys) describe(plan *sluice.Plan) *known {
	limits := plan.Limits()
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
	return &known{plan, newPolicy(k.config.dialect, names, limits), newBounds(plan, k.config.wait)}
}

func (k *keys) decide(r *http.Request, a *answer) (err error) {
	key, ok := k.key(r)
	if !ok {
		a.Reason = sluice.MissingKey
		return nil
	}
	cost := int64(1)
	if k.config.costBy != nil {
		cost = k.config.costBy(r)
	}
	d := &a.Decision.Decision
	if err = k.ask(r.Context(), key, cost, d); err != nil || d.Blind || d.Plan() == nil {
		return err
	}
	is := k.of(d)
	a.policy, a.limit = is.policy, &is.policy.limits[d.Index()]
	a.LimitName = a.limit.name
	return nil
}

// ask decides, and holds who may wait.
func (k *keys) ask(ctx context.Context, key string, cost int64, d *sluice.Decision) (err error) {
	if k.waiters.total.Load() > 0 && k.waiters.queue(key) {
		return k.join(ctx, key, cost, d)
	}
	if *d, err = k.keyed.AllowN(ctx, key, cost); err == nil && !d.Allowed && d.Reason == sluice.Limited {
		return k.wait(ctx, key, cost, d)
	}
	return err
}

func (k *keys) key(r *http.Request) (key string, ok bool) {
	if k.config.keyBy != nil {
		key, err := k.config.keyBy(r)
		return key, err == nil
	}
	four, size := scanIPv4(r.RemoteAddr)
	if size > 0 && k.config.source.option == "" {
		return r.RemoteAddr[:size], true
	}
	peer, ok := netip.AddrFrom4(four), four != [4]byte{}
	if size == 0 {
		peer, ok = parseAddress(r.RemoteAddr)
	}
	addr := k.config.source.behind(r, peer, ok)
	if size > 0 && addr == peer {
		return r.RemoteAddr[:size], true
	}
	var buffer [64]byte
	return string(appendKey(buffer[:0], addr, k.config.ipv6Bits)), true
}
