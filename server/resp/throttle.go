package resp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

// Keys of CL.THROTTLE at the store. No key of a rule begins like that: the name of a rule
// has neither a colon nor a number sign, and what follows it is a bar.
const (
	throttlePrefix = "cl.throttle:"
	throttleHashed = "cl.throttle#" // the hash of a key that is too long follows
)

// throttle answers CL.THROTTLE key max_burst count period [quantity] as redis-cell does:
//
//	limited (0 or 1), limit, remaining, retry after, reset after
//
// with times in seconds, rounded up if a millisecond or more is left over. Retry after is
// -1 if the request was not limited, and if it never could be let through. A quantity of 0
// looks, one below 0 gives back.
func throttle(ctx context.Context, d *desk) {
	limit, rate, quantity, problem := d.throttleArgs()
	if problem != "" {
		d.fail("Cell error: " + problem)
		return
	}
	if limit < 1 { // there is no such bucket, and nothing fits into it
		d.throttled(quantity > limit, limit, 0, -1, 0)
		return
	}
	spec, err := d.compile(limit, rate)
	if err != nil {
		d.fail("Cell error: " + strings.TrimPrefix(err.Error(), "algo: "))
		return
	}
	check := &d.checks[0]
	*check = store.Check{Key: d.throttleKey(), Spec: spec}
	if quantity < 0 {
		check.Cost = -max(quantity, -algo.MaxCount)
		if err = d.door.options.Store.Take(ctx, store.Refund, d.checks[:]); err == nil {
			*check = store.Check{Key: check.Key, Spec: spec}
		}
		quantity = 0
	}
	if err == nil {
		check.Cost = min(quantity, algo.MaxCount)
		err = d.door.options.Store.Take(ctx, store.Spend, d.checks[:])
	}
	if err != nil {
		d.fail("Cell error: could not be decided: " + shownAll(err.Error()))
		return
	}
	v := &check.Verdict
	limited, retry := quantity > 0 && !v.Allowed, int64(-1)
	if limited && !v.Never {
		retry = seconds(spec.RetryAfter(*v))
	}
	d.throttled(limited, limit, spec.Remaining(*v), retry, seconds(spec.ResetAfter(*v)))
}

func (d *desk) throttled(limited bool, limit, remaining, retry, reset int64) {
	d.out = append(d.out, "*5\r\n:0\r\n"...)
	if limited {
		d.out[len(d.out)-3] = '1'
	}
	d.integer(limit)
	d.integer(remaining)
	d.integer(retry)
	d.integer(reset)
}

// seconds rounds up, unless less than a millisecond is left over.
func seconds(us int64) int64 {
	ms := us / 1000
	whole := ms / 1000
	if ms%1000 > 0 {
		whole++
	}
	return whole
}

// What is wrong with the arguments of CL.THROTTLE; the first three are redis-cell's words.
const (
	usage        = "Usage: cl.throttle <key> <max_burst> <count per period> <period> [<quantity>]"
	noInteger    = "Couldn't parse as integer: "
	zeroRate     = "Zero rates are not supported"
	negativeRate = "Negative rates are not supported"
	largeBurst   = "max_burst is above 1e15"
	longPeriod   = "period is above 100 years"
)

// rate is what a bucket is made of, beside its size.
type rate struct{ count, period int64 }

// throttleArgs reads the arguments. It returns what is wrong with them.
func (d *desk) throttleArgs() (limit int64, r rate, quantity int64, problem string) {
	quantity = 1
	if len(d.args) != 5 && len(d.args) != 6 {
		return 0, r, 0, usage
	}
	numbers := [...]*int64{&limit, &r.count, &r.period, &quantity}
	for i, arg := range d.args[2:] {
		n, ok := parseNumber(arg)
		if !ok {
			return 0, r, 0, noInteger + shown(arg)
		}
		*numbers[i] = n
	}
	switch {
	case r.count == 0 || r.period == 0:
		return 0, r, 0, zeroRate
	case r.count < 0 || r.period < 0:
		return 0, r, 0, negativeRate
	case limit > algo.MaxCount-2:
		return 0, r, 0, largeBurst
	case r.period > algo.MaxSpan/1e6:
		return 0, r, 0, longPeriod
	}
	return limit + 1, r, quantity, ""
}

// buckets is how many limits a desk remembers compiled.
const buckets = 16

// bucket is a limit that was compiled.
type bucket struct {
	limit int64
	rate  rate
	spec  *algo.Spec
}

// compile returns the bucket of a limit, which is most often one that it has just had.
func (d *desk) compile(limit int64, r rate) (*algo.Spec, error) {
	mixed := uint64(limit)*0x9e3779b97f4a7c15 ^ uint64(r.count)*0xbf58476d1ce4e5b9 ^ uint64(r.period)*0x94d049bb133111eb
	known := &d.buckets[mixed>>60]
	if known.limit == limit && known.rate == r {
		return known.spec, nil
	}
	spec, err := algo.Compile(algo.Spec{Kind: algo.TokenBucket, Count: r.count, Period: r.period * 1e6, Burst: limit})
	if err != nil {
		return nil, err
	}
	*known = bucket{limit, r, spec}
	return spec, nil
}

// throttleKey returns the key at the store. It is good until the desk is used again, or for
// ever if the store may keep it.
func (d *desk) throttleKey() string {
	key := d.args[1]
	if len(throttlePrefix)+len(key) > store.MaxKey {
		sum := sha256.Sum256(key)
		d.key = hex.AppendEncode(append(d.key[:0], throttleHashed...), sum[:])
	} else {
		d.key = append(append(d.key[:0], throttlePrefix...), key...)
	}
	if d.door.keepsKeys {
		return string(d.key)
	}
	return textOf(d.key)
}

// parseNumber reads a whole number with or without a sign.
func parseNumber(text []byte) (int64, bool) {
	if n := len(text); n > 0 && n < 10 { // most of them
		number := int64(0)
		for i, c := range text {
			if c < '0' || c > '9' {
				break
			}
			if number = number*10 + int64(c-'0'); i == n-1 {
				return number, true
			}
		}
	}
	n, err := strconv.ParseInt(textOf(text), 10, 64)
	return n, err == nil
}
