package rls

import (
	"context"
	"net"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// healthService answers without a token.
const healthService = "/grpc.health.v1.Health/"

// enter lets calls in, before anything is done for them. It runs where a connection is
// read, so that an interceptor and what that allocates per call is not needed. Health
// may be asked by everybody, and makes nobody known.
func (o *ServerOptions) enter(ctx context.Context, info *tap.Info) (context.Context, error) {
	if strings.HasPrefix(info.FullMethodName, healthService) {
		return ctx, nil
	}
	if o.Tokens != nil && o.Tokens.Needed() && !o.shown(info.Header["authorization"]) {
		return nil, status.Error(codes.Unauthenticated, "a token is needed: send the metadata authorization: Bearer TOKEN")
	}
	if o.Known != nil {
		if p, ok := peer.FromContext(ctx); ok {
			if i, ok := p.AuthInfo.(introduction); ok {
				o.Known(i.conn)
			}
		}
	}
	return ctx, nil
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
