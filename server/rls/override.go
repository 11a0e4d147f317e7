package rls

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/server/envoy"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/memstore"
)

// overrides are limits that requests bring with them. What was spent belongs to domain
// and entries: another number of requests goes on with it.
type overrides struct {
	open func() (store.Store, error)
	zone string

	mu    sync.RWMutex // guards all below
	store store.Store
	all   map[sluice.Limit]*sluice.Keyed
}

// maxOverrides is how many different limits requests may bring: each is kept ready.
const maxOverrides = 4096

// get returns a limit that is ready.
func (o *overrides) get(l sluice.Limit) (*sluice.Keyed, error) {
	o.mu.RLock()
	k := o.all[l]
	o.mu.RUnlock()
	if k != nil {
		return k, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if k := o.all[l]; k != nil {
		return k, nil
	}
	if len(o.all) >= maxOverrides {
		return nil, &faultError{fmt.Sprintf("more than %d different limits in requests", maxOverrides)}
	}
	if o.store == nil {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	k = sluice.NewKeyed(l, sluice.WithStore(o.store))
	o.all[l] = k
	return k, nil
}

// start opens the store; o.mu is held.
func (o *overrides) start() (err error) {
	if o.open == nil {
		o.store = memstore.New()
	} else if o.store, err = o.open(); err != nil {
		return err
	}
	o.all = map[sluice.Limit]*sluice.Keyed{}
	return nil
}

// units are those of the wire.
var units = map[typev3.RateLimitUnit]envoy.Unit{
	typev3.RateLimitUnit_SECOND: envoy.Second,
	typev3.RateLimitUnit_MINUTE: envoy.Minute,
	typev3.RateLimitUnit_HOUR:   envoy.Hour,
	typev3.RateLimitUnit_DAY:    envoy.Day,
	typev3.RateLimitUnit_MONTH:  envoy.Month,
	typev3.RateLimitUnit_YEAR:   envoy.Year,
}

// findOverride gives an item the limit that its descriptor brings.
func (c *call) findOverride(it *item, o *ratelimitv3.RateLimitDescriptor_RateLimitOverride) error {
	unit, ok := units[o.GetUnit()]
	if !ok {
		return &faultError{fmt.Sprintf("the limit of a descriptor has no unit that is known: %v", o.GetUnit())}
	}
	times := max(1, o.GetUnitMultiplier().GetValue())
	limit, err := envoy.Limit(o.GetRequestsPerUnit(), unit, times, "", c.service.options.Zone)
	if err != nil {
		return &faultError{"the limit of a descriptor: " + err.Error()}
	}
	it.per, it.times, it.key = unit, times, overrideKey(c.request.GetDomain(), it.entries)
	it.override, err = c.service.overrides.get(limit)
	return err
}

// overrideKey tells domains and entries apart, whatever is in them: the length of each
// stands before it. No key of a rule looks like it.
func overrideKey(domain string, entries []envoy.Entry) string {
	size := len(domain) + 32
	for _, e := range entries {
		size += len(e.Key) + len(e.Value) + 16
	}
	b := append(make([]byte, 0, size), "override"...)
	add := func(text string) {
		b = append(b, '|')
		b = strconv.AppendInt(b, int64(len(text)), 10)
		b = append(b, ':')
		b = append(b, text...)
	}
	add(domain)
	for _, e := range entries {
		add(e.Key)
		add(e.Value)
	}
	if len(b) > store.MaxKey {
		sum := sha256.Sum256(b)
		return "override|" + hex.EncodeToString(sum[:])
	}
	return string(b)
}

// peekOverride finds out about the limit of the request itself.
func (i *item) peekOverride(ctx context.Context) error {
	d, err := i.override.AllowN(ctx, i.key, 0)
	if err != nil {
		return err
	}
	if i.tell(&d, ""); !i.refund {
		i.over = d.Remaining() < max(1, i.cost)
	}
	return nil
}

// drainOverride takes what is left, up to the cost.
func (i *item) drainOverride(ctx context.Context) error {
	if !i.told {
		if err := i.peekOverride(ctx); err != nil {
			return err
		}
	}
	cost := min(i.cost, i.left)
	if cost <= 0 {
		return nil
	}
	i.left -= cost
	_, err := i.override.AllowN(ctx, i.key, cost)
	return err
}

// spendOverrides takes from the limits of the request itself, one after the other, until
// one refuses.
func (c *call) spendOverrides(ctx context.Context) (allowed bool, err error) {
	for i := range c.items {
		it := &c.items[i]
		if it.override == nil || !it.spends() {
			continue
		}
		d, err := it.override.AllowN(ctx, it.key, it.cost)
		if err != nil {
			return false, err
		}
		if it.tell(&d, ""); !d.Allowed {
			return false, nil
		}
		it.taken = true
	}
	return true, nil
}

// undoTime is how long we try to give back.
const undoTime = 50 * time.Millisecond

// undoOverrides gives back what was taken for nothing, also if the caller has gone.
func (c *call) undoOverrides(ctx context.Context) {
	if !slices.ContainsFunc(c.items, func(it item) bool { return it.taken }) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	for i := range c.items {
		if it := &c.items[i]; it.taken {
			_ = it.override.Refund(ctx, it.key, it.cost) // it stays spent then
			it.taken, it.told = false, false             // there is more now
		}
	}
}
