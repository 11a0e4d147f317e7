package rls

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	pb "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
)

// ServerOptions sets up a Server.
type ServerOptions struct {
	TLS        *tls.Config // nil: none
	Tokens     Tokens      // nil: nobody is ever asked for one
	MaxMessage int         // bytes of a request
	MaxStreams uint32      // of a connection, at the same time

	// Known is told the connection, as the listener gave it, of every call that may be
	// made; may be nil. It must not wait.
	Known func(net.Conn)

	Remote bool // requests wait for a store that is a journey away
}

// Tokens say who may ask. They may change at any time.
type Tokens interface {
	// Needed reports whether a token has to be shown.
	Needed() bool
	// Fits reports whether it is a good one.
	Fits(token string) bool
}

// Server is the service behind gRPC, with health and reflection.
type Server struct {
	grpc   *grpc.Server
	health *health.Server
}

// How long connections live: Envoy keeps one for ever, so that new instances behind a
// balancer would never see it.
const (
	maxAge      = 24 * time.Hour
	ageGrace    = time.Minute
	pingEvery   = time.Minute // is the client still there?
	pingTimeout = 20 * time.Second
	leastPings  = 10 * time.Second // of clients; more often is cut off
	handshake   = 5 * time.Second
	maxHeaders  = 32 << 10
	buffers     = 32 << 10
)

// HealthName is the name under which envoyproxy/ratelimit tells its health; the empty one
// and that of the service work too.
const HealthName = "ratelimit"

// NewServer returns a server that is not listening yet.
func NewServer(s *Service, o ServerOptions) *Server {
	opts := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(o.MaxMessage), grpc.MaxConcurrentStreams(o.MaxStreams), grpc.MaxHeaderListSize(maxHeaders),
		grpc.ConnectionTimeout(handshake), grpc.NumStreamWorkers(o.workers()),
		grpc.ReadBufferSize(buffers), grpc.WriteBufferSize(buffers),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: maxAge, MaxConnectionAgeGrace: ageGrace, Time: pingEvery, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: leastPings, PermitWithoutStream: true}),
	}
	credential := insecure.NewCredentials()
	if o.TLS != nil {
		credential = credentials.NewTLS(o.TLS)
	}
	opts = append(opts, grpc.Creds(introducing{credential}))
	server := &Server{grpc: grpc.NewServer(opts...), health: health.NewServer()}
	for _, name := range []string{HealthName, pb.RateLimitService_ServiceDesc.ServiceName} {
		server.health.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
	}
	healthpb.RegisterHealthServer(server.grpc, server.health) // everybody may ask, and nobody becomes known by it
	guarded := entrance{server.grpc, &o}
	pb.RegisterRateLimitServiceServer(guarded, s)
	reflection.Register(guarded)
	return server
}

// workers is how many goroutines are kept for requests: a new one for each would have to
// grow its stack first, which is a tenth of a call. There have to be more than processors,
// since only one that waits at that moment is used. While some wait for a remote store,
// others are needed.
func (o *ServerOptions) workers() uint32 {
	if o.Remote {
		return min(o.MaxStreams, 256)
	}
	return min(o.MaxStreams, 64)
}

// Serve answers on l until Shutdown.
func (s *Server) Serve(l net.Listener) error {
	if err := s.grpc.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) { // before it began
		return err
	}
	return http.ErrServerClosed
}

// Shutdown says that it is not healthy any more, accepts nothing more, and finishes what
// is under way. If ctx ends before, the rest is cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	s.health.Shutdown()
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.grpc.Stop()
		<-done
		return ctx.Err()
	}
}
