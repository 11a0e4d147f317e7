package sluicegrpc

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/sluice-limiter/sluice/engine"
)

// UnaryServer is an interceptor for grpc.UnaryInterceptor.
func (i *Interceptor) UnaryServer(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := i.serve(ctx, i.incoming(ctx, info.FullMethod)); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// StreamServer is an interceptor for grpc.StreamInterceptor. A stream is charged when
// it starts; see PerMessage.
func (i *Interceptor) StreamServer(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	r := i.incoming(stream.Context(), info.FullMethod)
	if err := i.serve(stream.Context(), r); err != nil {
		return err
	}
	if i.perMessage {
		stream = &serverStream{ServerStream: stream, i: i, r: r, paid: true}
	}
	return handler(srv, stream)
}

// UnaryClient is an interceptor for grpc.WithUnaryInterceptor.
func (i *Interceptor) UnaryClient(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := i.admit(ctx, i.outgoing(ctx, method, cc)); err != nil {
		return err
	}
	return invoker(ctx, method, req, reply, cc, opts...)
}

// StreamClient is an interceptor for grpc.WithStreamInterceptor. A stream is charged
// when it starts.
func (i *Interceptor) StreamClient(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if err := i.admit(ctx, i.outgoing(ctx, method, cc)); err != nil {
		return nil, err
	}
	return streamer(ctx, desc, cc, method, opts...)
}

// serve is admit with the trailer by which gRPC's own retries go.
func (i *Interceptor) serve(ctx context.Context, r *engine.Request) error {
	err := i.admit(ctx, r)
	if ms := pushback(err); ms != "" {
		_ = grpc.SetTrailer(ctx, metadata.Pairs("grpc-retry-pushback-ms", ms)) // a hint: the refusal stands without it
	}
	return err
}

// incoming says what is known of a call that came in.
func (i *Interceptor) incoming(ctx context.Context, method string) *engine.Request {
	values := header(func(name string) []string { return metadata.ValueFromIncomingContext(ctx, name) })
	r := &engine.Request{Method: "POST", Host: values.Get(":authority"), Path: method, IP: i.clientIP(ctx), Header: values, Length: -1}
	i.fill(ctx, r)
	return r
}

// clientIP finds the address of the client as for HTTP, which gRPC is.
func (i *Interceptor) clientIP(ctx context.Context) netip.Addr {
	r := new(http.Request)
	p, ok := peer.FromContext(ctx)
	if ok && p.Addr != nil {
		r.RemoteAddr = p.Addr.String()
	}
	if ok && i.forwarded {
		r = r.WithContext(context.WithValue(ctx, http.LocalAddrContextKey, p.LocalAddr))
		r.Header = make(http.Header)
		md, _ := metadata.FromIncomingContext(ctx)
		for name, values := range md {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return i.address(r)
}

// outgoing says what is known of a call that is to be made.
func (i *Interceptor) outgoing(ctx context.Context, method string, cc *grpc.ClientConn) *engine.Request {
	md, _ := metadata.FromOutgoingContext(ctx)
	r := &engine.Request{Method: "POST", Host: hostOf(cc.CanonicalTarget()), Path: method, Header: header(md.Get), Length: -1}
	i.fill(ctx, r)
	return r
}

// hostOf returns what a target names, without the scheme and the authority of a
// resolver: dns://8.8.8.8/api.example.com:443 is api.example.com:443, and unix:///run/s
// is /run/s.
func hostOf(target string) string {
	scheme, rest, _ := strings.Cut(target, ":")
	endpoint := rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
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

// header finds the values of a name in metadata.
type header func(name string) []string

// Get returns the first value of a name.
func (h header) Get(name string) string {
	if values := h(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Values returns all values of a name: a client may send several.
func (h header) Values(name string) []string { return h(name) }

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
		err = s.i.serve(s.Context(), s.r)
	}
	s.paid = false
	return err
}
