package rls

import (
	"context"
	"net"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// entrance registers services whose calls have to be let in. It changes their methods
// themselves: an interceptor would allocate for each call, and what gRPC refuses before
// (by a tap handle) leaves a timer behind, for as long as the client says that it waits.
type entrance struct {
	*grpc.Server
	options *ServerOptions
}

// RegisterService implements [grpc.ServiceRegistrar].
func (e entrance) RegisterService(d *grpc.ServiceDesc, service any) {
	guarded := *d
	guarded.Methods, guarded.Streams = slices.Clone(d.Methods), slices.Clone(d.Streams)
	for i := range guarded.Methods {
		m := &guarded.Methods[i]
		handle := m.Handler
		m.Handler = func(service any, ctx context.Context, decode func(any) error, between grpc.UnaryServerInterceptor) (any, error) {
			if err := e.options.enter(ctx); err != nil {
				return nil, err
			}
			return handle(service, ctx, decode, between)
		}
	}
	for i := range guarded.Streams {
		s := &guarded.Streams[i]
		handle := s.Handler
		s.Handler = func(service any, stream grpc.ServerStream) error {
			if err := e.options.enter(stream.Context()); err != nil {
				return err
			}
			return handle(service, stream)
		}
	}
	e.Server.RegisterService(&guarded, service)
}

// enter lets a call in. gRPC asks for its message only when it is to be decoded: of one that
// is refused, no more arrives than the window of a stream.
func (o *ServerOptions) enter(ctx context.Context) error {
	if o.Tokens != nil && o.Tokens.Needed() && !o.shown(metadata.ValueFromIncomingContext(ctx, "authorization")) {
		return status.Error(codes.Unauthenticated, "a token is needed: send the metadata authorization: Bearer TOKEN")
	}
	if o.Known != nil {
		if p, ok := peer.FromContext(ctx); ok {
			if i, ok := p.AuthInfo.(introduction); ok {
				o.Known(i.conn)
			}
		}
	}
	return nil
}

// shown reports whether the lines of the metadata are one good token: Bearer TOKEN.
func (o *ServerOptions) shown(lines []string) bool {
	if len(lines) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(lines[0], " ")
	return strings.EqualFold(scheme, "Bearer") && o.Tokens.Fits(strings.TrimLeft(token, " "))
}

// introducing are credentials that let calls know the connection on which they came, as
// the listener gave it.
type introducing struct {
	credentials.TransportCredentials
}

// ServerHandshake implements [credentials.TransportCredentials].
func (c introducing) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	return conn, introduction{info, raw}, err
}

// Clone implements [credentials.TransportCredentials].
func (c introducing) Clone() credentials.TransportCredentials {
	return introducing{c.TransportCredentials.Clone()}
}

// introduction is what credentials say of a connection, and the connection.
type introduction struct {
	credentials.AuthInfo
	conn net.Conn
}
