package rls

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	now  func() time.Time

	mu    sync.RWMutex // guards all below
	store store.Store  // does not change once it is there
	plans map[sluice.Limit]*sluice.Plan
}

// maxOverrides is how many different limits requests may bring: each is kept ready.
const maxOverrides = 4096

// get returns a limit that is ready.
func (o *overrides) get(l sluice.Limit) (*sluice.Plan, error) {
	o.mu.RLock()
	p := o.plans[l]
	o.mu.RUnlock()
	if p != nil && !o.ended(p) {
		return p, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store == nil {
		if err := o.start(); err != nil {
			return nil, err
		}
	}
	if p == nil && len(o.plans) >= maxOverrides {
		return nil, &faultError{fmt.Sprintf("more than %d different limits in requests", maxOverrides)}
	}
	plans, err := sluice.NewPlans(o.now(), []sluice.Limit{l})
	if err != nil {
		return nil, &faultError{"the limit of a descriptor: " + err.Error()}
	}
	o.plans[l] = plans[0]
	return plans[0], nil
}

// ended reports whether the calendar of a limit has to be laid out anew.
func (o *overrides) ended(p *sluice.Plan) bool {
	until := p.Until()
	return !until.IsZero() && !o.now().Before(until)
}

// start opens the store; o.mu is held.
func (o *overrides) start() (err error) {
	if o.open == nil {
		memory := memstore.New()
		o.store, o.now = memory, memory.Now
	} else if o.store, err = o.open(); err != nil {
		return err
	}
	o.plans = map[sluice.Limit]*sluice.Plan{}
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

const overridePrefix = "%override"

// overrideKey tells domains and entries apart, whatever is in them: the length of each
// stands before it. No key of a rule looks like it: names of rules have no percent sign.
func overrideKey(domain string, entries []envoy.Entry) string {
	size := len(domain) + 32
	for _, e := range entries {
		size += len(e.Key) + len(e.Value) + 16
	}
	b := append(make([]byte, 0, size), overridePrefix...)
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
		return overridePrefix + "|" + hex.EncodeToString(sum[:])
	}
	return string(b)
}
