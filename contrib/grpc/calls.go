package sluicegrpc

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/sluice-limiter/sluice/engine"
)

// UnaryServer is an interceptor for grpc.UnaryInterceptor.
func (i *Interceptor) UnaryServer(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	in, err := i.admit(ctx, i.incoming(ctx, info.FullMethod), false)
	if err != nil {
		return nil, pushBack(ctx, err)
	}
	defer in.Leave()
	return handler(ctx, req)
}

// StreamServer is an interceptor for grpc.StreamInterceptor. A stream is charged when
// it starts; see PerMessage.
func (i *Interceptor) StreamServer(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	r := i.incoming(stream.Context(), info.FullMethod)
	in, err := i.admit(stream.Context(), r, false)
	if err != nil {
		return pushBack(stream.Context(), err)
	}
	defer in.Leave()
	if i.perMessage {
		stream = &serverStream{ServerStream: stream, i: i, r: r, paid: true}
	}
	return handler(srv, stream)
}

// UnaryClient is an interceptor for grpc.WithUnaryInterceptor.
func (i *Interceptor) UnaryClient(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	in, err := i.admit(ctx, outgoing(ctx, method, cc), false)
	if err != nil {
		return err
	}
	defer in.Leave()
	return invoker(ctx, method, req, reply, cc, opts...)
}

// StreamClient is an interceptor for grpc.WithStreamInterceptor. A stream is charged
// when it starts, and in flight until gRPC says that it is over.
func (i *Interceptor) StreamClient(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (stream grpc.ClientStream, err error) {
	in, err := i.admit(ctx, outgoing(ctx, method, cc), false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if stream == nil || err != nil { // also after a panic
			in.Leave()
		}
	}()
	return streamer(ctx, desc, cc, method, append(slices.Clip(opts), grpc.OnFinish(func(error) { in.Leave() }))...)
}

// pushBack sets the trailer by which gRPC's own retries go, and returns the refusal.
func pushBack(ctx context.Context, err error) error {
	if refused, ok := errors.AsType[*refusal](err); ok && refused.pushback != "" {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", refused.pushback)) // a hint: the refusal stands without it
	}
	return err
}

// incoming says what is known of a call that came in. The client's address is found as
// for HTTP, which gRPC is.
func (i *Interceptor) incoming(ctx context.Context, method string) *engine.Request {
	md, _ := metadata.FromIncomingContext(ctx)
	seen := &http.Request{Header: headerOf(md)}
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		seen.RemoteAddr = p.Addr.String()
		seen = seen.WithContext(context.WithValue(ctx, http.LocalAddrContextKey, p.LocalAddr))
	}
	return &engine.Request{Method: "POST", Host: seen.Header.Get(":authority"), Path: method, IP: i.address(seen), Header: seen.Header, Length: -1}
}

// outgoing says what is known of a call that is to be made.
func outgoing(ctx context.Context, method string, cc *grpc.ClientConn) *engine.Request {
	md, _ := metadata.FromOutgoingContext(ctx)
	return &engine.Request{Method: "POST", Host: hostOf(cc.CanonicalTarget()), Path: method, Header: headerOf(md), Length: -1}
}

// headerOf writes metadata as HTTP has it, which is how rules look for names.
func headerOf(md metadata.MD) http.Header {
	h := make(http.Header, len(md))
	for name, values := range md {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// hostOf returns what a target names, without the scheme and the authority of a
// resolver: dns://8.8.8.8/api.example.com:443 is api.example.com:443, and unix:///run/s
// is /run/s.
func hostOf(target string) string {
	scheme, endpoint, _ := strings.Cut(target, ":")
	if after, ok := strings.CutPrefix(endpoint, "//"); ok {
		_, endpoint, _ = strings.Cut(after, "/")
	}
	switch scheme {
	case "unix":
		return "/" + strings.TrimPrefix(endpoint, "/")
	case "unix-abstract":
		return "@" + endpoint
	}
	return strings.ToLower(endpoint)
}

// serverStream charges every message. One goroutine at a time receives.
type serverStream struct {
	grpc.ServerStream
	i    *Interceptor
	r    *engine.Request
	paid bool // the next message is paid for
}

// RecvMsg receives a message and charges it.
func (s *serverStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil && !s.paid {
		_, err = s.i.admit(s.Context(), s.r, true)
		err = pushBack(s.Context(), err)
	}
	s.paid = false
	return err
}
