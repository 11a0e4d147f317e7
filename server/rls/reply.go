package rls

import (
	"math"
	"strconv"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sluice-limiter/sluice/server/envoy"
)

// few is for how many descriptors an answer is one piece of memory.
const few = 2

// answer is a response with all that it points to.
type answer struct {
	response pb.RateLimitResponse
	pointers [few]*pb.RateLimitResponse_DescriptorStatus
	statuses [few]statusMemory
}

type statusMemory struct {
	status pb.RateLimitResponse_DescriptorStatus
	limit  pb.RateLimitResponse_RateLimit
	reset  durationpb.Duration
}

// reply makes the response of a call that was decided.
func (c *call) reply() *pb.RateLimitResponse {
	a := new(answer)
	r, memory := &a.response, a.statuses[:]
	r.Statuses = a.pointers[:0]
	if n := len(c.items); n > few {
		r.Statuses, memory = make([]*pb.RateLimitResponse_DescriptorStatus, 0, n), make([]statusMemory, n)
	}
	for i := range c.items {
		c.items[i].fill(&memory[i])
		r.Statuses = append(r.Statuses, &memory[i].status)
	}
	if r.OverallCode = pb.RateLimitResponse_OK; c.denied {
		r.OverallCode = pb.RateLimitResponse_OVER_LIMIT
	}
	if c.service.options.Headers != (Headers{}) {
		r.ResponseHeadersToAdd = c.headers()
	}
	if c.service.options.Metadata {
		r.DynamicMetadata = c.metadata()
	}
	return r
}

// fill writes the status of an item.
func (i *item) fill(m *statusMemory) {
	s := &m.status
	if s.Code = pb.RateLimitResponse_OK; i.over && !i.quota {
		s.Code = pb.RateLimitResponse_OVER_LIMIT
	}
	if i.leaf != nil && i.leaf.Unlimited {
		s.LimitRemaining = math.MaxUint32
	}
	if !i.told {
		return
	}
	s.CurrentLimit, s.LimitRemaining = &m.limit, i.remaining()
	i.fillLimit(&m.limit)
	if i.reset > 0 {
		setDuration(&m.reset, i.reset)
		s.DurationUntilReset = &m.reset
	}
}

// wireUnits are the units of limits in statuses.
var wireUnits = [...]pb.RateLimitResponse_RateLimit_Unit{
	envoy.Second: pb.RateLimitResponse_RateLimit_SECOND,
	envoy.Minute: pb.RateLimitResponse_RateLimit_MINUTE,
	envoy.Hour:   pb.RateLimitResponse_RateLimit_HOUR,
	envoy.Day:    pb.RateLimitResponse_RateLimit_DAY,
	envoy.Week:   pb.RateLimitResponse_RateLimit_WEEK,
	envoy.Month:  pb.RateLimitResponse_RateLimit_MONTH,
	envoy.Year:   pb.RateLimitResponse_RateLimit_YEAR,
}

// fillLimit writes the limit as the file or the request has it; one of a rule of our own
// as units that fit.
func (i *item) fillLimit(l *pb.RateLimitResponse_RateLimit) {
	unit, times := i.per, i.times
	switch {
	case i.leaf != nil && i.name == i.leaf.Rule:
		unit, times, l.Name = i.leaf.Unit, i.leaf.Times, i.leaf.Name
	case i.override == nil:
		unit, times = envoy.UnitOf(i.limit)
		l.Name = i.name
	}
	l.RequestsPerUnit = uint32(min(i.limit.Count, math.MaxUint32))
	l.Unit = wireUnits[unit]
	if times > 1 {
		l.UnitMultiplier = wrapperspb.UInt32(times)
	}
}

// setDuration rounds up to a millisecond, so that nobody comes too early.
func setDuration(to *durationpb.Duration, d time.Duration) {
	d = (d + time.Millisecond - 1).Truncate(time.Millisecond)
	to.Seconds, to.Nanos = int64(d/time.Second), int32(d%time.Second)
}

// headers tells of the tightest limit.
func (c *call) headers() []*corev3.HeaderValue {
	tightest := c.tightest()
	if tightest == nil {
		return nil
	}
	var all []*corev3.HeaderValue
	add := func(name string, value int64) {
		if name != "" {
			all = append(all, &corev3.HeaderValue{Key: name, Value: strconv.FormatInt(value, 10)})
		}
	}
	names := &c.service.options.Headers
	add(names.Limit, tightest.limit.Count)
	add(names.Remaining, int64(tightest.remaining()))
	add(names.Reset, int64((tightest.reset+time.Second-1)/time.Second))
	return all
}

// tightest returns the item that refuses, or else has least left; nil if no figures are
// known. Limits in shadow are for Envoy, not for those who are not held to them.
func (c *call) tightest() (best *item) {
	if c.service.options.Engine.ShadowedAll() {
		return nil
	}
	for i := range c.items {
		it := &c.items[i]
		if !it.told || it.leaf != nil && it.leaf.Shadow {
			continue
		}
		refuses, first := it.over && !it.quota, best == nil
		if first || refuses && !(best.over && !best.quota) || refuses == (best.over && !best.quota) && it.left < best.left {
			best = it
		}
	}
	return best
}
