package sluicegrpc

import (
	"cmp"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
)

// refusal is the error of a call that was not let through. Its text is what the other
// side may read; the cause stays in this process.
type refusal struct {
	status   *status.Status
	cause    error
	pushback string // when gRPC's own retries come back, in ms; -1: not at all; empty: not known
}

func (r *refusal) Error() string              { return r.status.String() }
func (r *refusal) GRPCStatus() *status.Status { return r.status }
func (r *refusal) Unwrap() error              { return r.cause }

// statuses are what a denial is in gRPC's words.
var statuses = map[sluice.Reason]*status.Status{
	sluice.Limited:     status.New(codes.ResourceExhausted, "rate limit exceeded"),
	sluice.Never:       status.New(codes.ResourceExhausted, "the call costs more than the limit can ever admit"),
	sluice.Banned:      status.New(codes.ResourceExhausted, "calls are not admitted"),
	sluice.Unavailable: status.New(codes.Unavailable, "the limit cannot be decided now"),
	sluice.MissingKey:  status.New(codes.InvalidArgument, "what the limit goes by is missing"),
	sluice.Ambiguous:   status.New(codes.InvalidArgument, "the method can be read in more than one way"),
	sluice.NoRule:      status.New(codes.PermissionDenied, "no rule allows this method"),
}

// denial says why a call is denied, when to come back (in whole milliseconds, rounded up:
// who comes then is not early), and which limit it was. Never whose: a key may hold what
// others must not read.
func denial(d engine.Decision) *refusal {
	r := &refusal{status: cmp.Or(statuses[d.Reason], statuses[sluice.Limited]), cause: &sluice.LimitedError{Decision: d.Decision}}
	if r.status.Code() != codes.ResourceExhausted {
		return r
	}
	var details []protoadapt.MessageV1
	if d.Reason != sluice.Limited {
		r.pushback = "-1" // to come back is in vain
	} else if retry := (d.RetryAfter() + time.Millisecond - 1).Truncate(time.Millisecond); retry > 0 {
		r.pushback = strconv.FormatInt(retry.Milliseconds(), 10)
		r.status = status.Newf(codes.ResourceExhausted, "%s, retry in %d s", r.status.Message(), (retry+time.Second-1)/time.Second)
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(retry)})
	}
	if limit := d.Limit(); limit != (sluice.Limit{}) && (d.Rule == nil || d.Rule.Headers != rule.HeadersNone) {
		v := &errdetails.QuotaFailure_Violation{QuotaId: d.LimitName, Description: limit.String()}
		if d.Rule != nil {
			v.Subject = d.Rule.Name
		}
		details = append(details, &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{v}})
	}
	if detailed, err := r.status.WithDetails(details...); err == nil {
		r.status = detailed
	}
	return r
}
