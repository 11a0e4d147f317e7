package rls

import (
	"fmt"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// metadata tells later filters of Envoy what was asked and what became of it. The
// metadata of the descriptors that allow are merged; of two values the later counts.
func (c *call) metadata() *structpb.Struct {
	fields := map[string]*structpb.Value{
		"domain":           structpb.NewStringValue(c.request.GetDomain()),
		"quotaModeEnabled": structpb.NewBoolValue(c.quotas),
	}
	var descriptors, over []*structpb.Value
	merged := map[string]*structpb.Value{}
	for i := range c.items {
		it := &c.items[i]
		descriptors = append(descriptors, describe(c.request.GetDescriptors()[i]))
		if it.quota && it.over {
			over = append(over, structpb.NewNumberValue(float64(i)))
		}
		if it.leaf == nil || it.over {
			continue
		}
		for name, value := range it.leaf.Metadata {
			if v, err := structpb.NewValue(value); err == nil {
				merged[name] = v
			}
		}
	}
	fields["descriptors"] = structpb.NewListValue(&structpb.ListValue{Values: descriptors})
	if len(over) > 0 {
		fields["quotaModeViolations"] = structpb.NewListValue(&structpb.ListValue{Values: over})
	}
	if hits := c.request.GetHitsAddend(); hits != 0 {
		fields["hitsAddend"] = structpb.NewNumberValue(float64(hits))
	}
	if len(merged) > 0 {
		fields["metadata"] = structpb.NewStructValue(&structpb.Struct{Fields: merged})
	}
	return &structpb.Struct{Fields: fields}
}

// describe repeats a descriptor.
func describe(d *ratelimitv3.RateLimitDescriptor) *structpb.Value {
	var entries []*structpb.Value
	for _, e := range d.GetEntries() {
		entries = append(entries, structpb.NewStringValue(e.GetKey()+"="+e.GetValue()))
	}
	fields := map[string]*structpb.Value{"entries": structpb.NewListValue(&structpb.ListValue{Values: entries})}
	if l := d.GetLimit(); l != nil {
		fields["limit"] = structpb.NewStringValue(fmt.Sprintf("requests_per_unit:%d unit:%s", l.GetRequestsPerUnit(), l.GetUnit()))
	}
	if hits := d.GetHitsAddend(); hits != nil {
		fields["hitsAddend"] = structpb.NewNumberValue(float64(hits.GetValue()))
	}
	return structpb.NewStructValue(&structpb.Struct{Fields: fields})
}
