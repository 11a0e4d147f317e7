package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/algo"
	"github.com/sluice-limiter/sluice/store"
)

func TestValidate(t *testing.T) {
	bucket, permits := &algo.Spec{Kind: algo.TokenBucket}, &algo.Spec{Kind: algo.Concurrency}
	good := store.Check{Key: "k", Spec: bucket, Cost: 1, ID: "i", Hold: 1}
	for _, c := range []struct {
		name string
		op   store.Op
		edit func(*store.Check)
		want error
	}{
		{"spend", store.Spend, func(*store.Check) {}, nil},
		{"peek", store.Spend, func(c *store.Check) { c.Cost = 0 }, nil},
		{"largest cost", store.Spend, func(c *store.Check) { c.Cost = algo.MaxCount }, nil},
		{"longest key", store.Spend, func(c *store.Check) { c.Key = strings.Repeat("k", store.MaxKey) }, nil},
		{"longest hold", store.Reserve, func(c *store.Check) { c.Hold = store.MaxHold }, nil},
		{"longest ID", store.Commit, func(c *store.Check) { c.ID = strings.Repeat("i", store.MaxKey) }, nil},
		{"commit needs no hold", store.Commit, func(c *store.Check) { c.Hold = 0 }, nil},
		{"spend needs no ID", store.Spend, func(c *store.Check) { c.ID, c.Hold = "", 0 }, nil},
		{"reset", store.Reset, func(*store.Check) {}, nil},
		{"cancel", store.Cancel, func(*store.Check) {}, nil},
		{"no key", store.Reset, func(c *store.Check) { c.Key = "" }, store.ErrKey},
		{"no key to spend from", store.Spend, func(c *store.Check) { c.Key = "" }, store.ErrKey},
		{"negative cost to spend", store.Spend, func(c *store.Check) { c.Cost = -1 }, store.ErrCost},
		{"key too long", store.Spend, func(c *store.Check) { c.Key = strings.Repeat("k", store.MaxKey+1) }, store.ErrKey},
		{"negative cost", store.Refund, func(c *store.Check) { c.Cost = -1 }, store.ErrCost},
		{"cost too large", store.Spend, func(c *store.Check) { c.Cost = algo.MaxCount + 1 }, store.ErrCost},
		{"no ID", store.Reserve, func(c *store.Check) { c.ID = "" }, store.ErrID},
		{"no ID to commit", store.Commit, func(c *store.Check) { c.ID = "" }, store.ErrID},
		{"ID too long", store.Commit, func(c *store.Check) { c.ID = strings.Repeat("i", store.MaxKey+1) }, store.ErrID},
		{"no hold", store.Reserve, func(c *store.Check) { c.Hold = 0 }, store.ErrID},
		{"hold too long", store.Reserve, func(c *store.Check) { c.Hold = store.MaxHold + 1 }, store.ErrID},
		{"permit", store.Acquire, func(c *store.Check) { c.Spec = permits }, nil},
		{"release needs no hold", store.Release, func(c *store.Check) { c.Spec, c.Hold = permits, 0 }, nil},
		{"reset of permits", store.Reset, func(c *store.Check) { c.Spec = permits }, nil},
		{"permit of a bucket", store.Acquire, func(*store.Check) {}, store.ErrOp},
		{"spend of a permit", store.Spend, func(c *store.Check) { c.Spec = permits }, store.ErrOp},
		{"lease of nothing", store.Lease, func(c *store.Check) { c.Cost, c.Want = 0, 5 }, store.ErrCost},
		{"lease of less than the cost", store.Lease, func(c *store.Check) { c.Cost, c.Want = 2, 1 }, store.ErrCost},
		{"lease of too much", store.Lease, func(c *store.Check) { c.Want = algo.MaxCount + 1 }, store.ErrCost},
		{"permit without owner", store.Acquire, func(c *store.Check) { c.Spec, c.ID = permits, "" }, store.ErrID},
		{"permit for no time", store.Acquire, func(c *store.Check) { c.Spec, c.Hold = permits, 0 }, store.ErrID},
		{"renewal for no time", store.Renew, func(c *store.Check) { c.Spec, c.Hold = permits, 0 }, store.ErrID},
		{"release without owner", store.Release, func(c *store.Check) { c.Spec, c.ID = permits, "" }, store.ErrID},
		{"unknown operation", store.Release + 1, func(*store.Check) {}, store.ErrOp},
	} {
		bad := good
		c.edit(&bad)
		first := good
		if first.Spec = bad.Spec; c.op == store.Lease {
			first.Want = 1
		}
		err := store.Validate(c.op, []store.Check{first, bad})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "store: ") {
			t.Errorf("%s: error %q does not say where it comes from", c.name, err)
		}
	}
	dark := good
	dark.Shadow = true
	for op, want := range map[store.Op]error{store.Spend: store.ErrOp, store.Reserve: store.ErrOp, store.Commit: nil, store.Refund: nil} {
		if err := store.Validate(op, []store.Check{dark, good}); !errors.Is(err, want) {
			t.Errorf("operation %d: a shadow before another check: error %v, want %v", op, err, want)
		}
		if err := store.Validate(op, []store.Check{good, dark, dark}); err != nil {
			t.Errorf("operation %d: shadows behind another check: %v", op, err)
		}
	}
	if err := store.Validate(store.Spend, nil); err != nil {
		t.Errorf("no checks: %v", err)
	}
}
