package sluicegrpc

import (
	"cmp"
	"context"
	"errors"
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
	status *status.Status
	cause  error
}

func (r *refusal) Error() string              { return r.status.String() }
func (r *refusal) GRPCStatus() *status.Status { return r.status }
func (r *refusal) Unwrap() error              { return r.cause }

// conclude turns an answer into nil or a refusal.
func conclude(ctx context.Context, d engine.Decision, err error) error {
	if limited, ok := errors.AsType[*sluice.LimitedError](err); ok {
		d.Decision, err = limited.Decision, nil
	}
	switch {
	case err == nil && d.Allowed:
		return nil
	case err == nil:
		return &refusal{denial(d), &sluice.LimitedError{Decision: d.Decision}}
	case ctx.Err() != nil:
		return &refusal{status.FromContextError(ctx.Err()), err}
	case errors.Is(err, sluice.ErrKey), errors.Is(err, sluice.ErrCost):
		return &refusal{status.New(codes.InvalidArgument, "no limit can be decided for this key or cost"), err}
	}
	return &refusal{statuses[sluice.Unavailable], err}
}

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

// denial says why, and what else is known.
func denial(d engine.Decision) *status.Status {
	s := cmp.Or(statuses[d.Reason], statuses[sluice.Limited])
	if s.Code() != codes.ResourceExhausted {
		return s
	}
	if retry := d.RetryAfter(); retry > 0 {
		s = status.Newf(s.Code(), "%s, retry in %d s", s.Message(), (retry+time.Second-1)/time.Second)
	}
	if detailed, err := s.WithDetails(details(d)...); err == nil {
		return detailed
	}
	return s
}

// details tells when to come back and which limit it was. Never whose: a key may hold
// what others must not read.
func details(d engine.Decision) (all []protoadapt.MessageV1) {
	if retry := retryAfter(d.Decision); retry > 0 {
		all = append(all, &errdetails.RetryInfo{RetryDelay: durationpb.New(retry)})
	}
	limit := d.Limit()
	if limit == (sluice.Limit{}) || d.Rule != nil && d.Rule.Headers == rule.HeadersNone {
		return all // it is not known, or not to be told
	}
	v := &errdetails.QuotaFailure_Violation{QuotaId: d.LimitName, Description: limit.String()}
	if d.Rule != nil {
		v.Subject = d.Rule.Name
	}
	return append(all, &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{v}})
}

// retryAfter is in whole milliseconds, rounded up: who comes then is not early.
func retryAfter(d sluice.Decision) time.Duration {
	return (d.RetryAfter() + time.Millisecond - 1).Truncate(time.Millisecond)
}

// pushback tells gRPC's own retries when to come back, -1 for not at all, or nothing
// if that is not known.
func pushback(err error) string {
	switch limited, ok := errors.AsType[*sluice.LimitedError](err); {
	case !ok:
		return ""
	case limited.Decision.Reason == sluice.Limited && limited.Decision.RetryAfter() > 0:
		return strconv.FormatInt(retryAfter(limited.Decision).Milliseconds(), 10)
	case limited.Decision.Reason == sluice.Never, limited.Decision.Reason == sluice.Banned:
		return "-1"
	}
	return ""
}
