package sluicegrpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
)

// service counts the calls and messages that reach it.
type service struct {
	testpb.UnimplementedTestServiceServer
	calls, messages atomic.Int64
}

func (s *service) EmptyCall(context.Context, *testpb.Empty) (*testpb.Empty, error) {
	s.calls.Add(1)
	return new(testpb.Empty), nil
}

// FullDuplexCall echoes.
func (s *service) FullDuplexCall(stream grpc.BidiStreamingServer[testpb.StreamingOutputCallRequest, testpb.StreamingOutputCallResponse]) error {
	s.calls.Add(1)
	for {
		switch _, err := stream.Recv(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		s.messages.Add(1)
		if err := stream.Send(new(testpb.StreamingOutputCallResponse)); err != nil {
			return err
		}
	}
}

// StreamingOutputCall answers one message with three.
func (s *service) StreamingOutputCall(_ *testpb.StreamingOutputCallRequest, stream grpc.ServerStreamingServer[testpb.StreamingOutputCallResponse]) error {
	s.calls.Add(1)
	for range 3 {
		if err := stream.Send(new(testpb.StreamingOutputCallResponse)); err != nil {
			return err
		}
	}
	return nil
}

// world is a server and what is needed to call it. Whoever made it in a synctest
// bubble learns of a goroutine that is left behind.
type world struct {
	*service
	listener *bufconn.Listener
}

func newWorld(t testing.TB, limit *sluicegrpc.Interceptor, opts ...grpc.ServerOption) *world {
	t.Helper()
	w := &world{service: new(service), listener: bufconn.Listen(1 << 16)}
	if limit != nil {
		opts = append(opts, grpc.UnaryInterceptor(limit.UnaryServer), grpc.StreamInterceptor(limit.StreamServer))
	}
	server := grpc.NewServer(opts...)
	testpb.RegisterTestServiceServer(server, w.service)
	go func() { _ = server.Serve(peers{w.listener}) }()
	t.Cleanup(server.Stop)
	return w
}

// client connects from an address.
func (w *world) client(t testing.TB, from string, opts ...grpc.DialOption) testpb.TestServiceClient {
	t.Helper()
	return testpb.NewTestServiceClient(w.connect(t, from, opts...))
}

func (w *world) connect(t testing.TB, from string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	dial := func(ctx context.Context, _ string) (net.Conn, error) {
		conn, err := w.listener.DialContext(ctx)
		if err == nil {
			_, err = conn.Write(append([]byte{byte(len(from))}, from...))
		}
		return conn, err
	}
	opts = append(opts, grpc.WithContextDialer(dial), grpc.WithTransportCredentials(insecure.NewCredentials()))
	cc, err := grpc.NewClient("passthrough:///api.example.com:443", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return cc
}

// peers reads from what address a connection pretends to come.
type peers struct{ net.Listener }

func (l peers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	length := make([]byte, 1)
	if _, err = io.ReadFull(conn, length); err != nil {
		return nil, err
	}
	from := make([]byte, length[0])
	_, err = io.ReadFull(conn, from)
	return peerConn{conn, string(from)}, err
}

type peerConn struct {
	net.Conn
	from string
}

func (c peerConn) RemoteAddr() net.Addr { return address(c.from) }

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

func call(t testing.TB, c testpb.TestServiceClient, opts ...grpc.CallOption) error {
	t.Helper()
	_, err := c.EmptyCall(t.Context(), new(testpb.Empty), opts...)
	return err
}

func wantCode(t testing.TB, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Fatalf("code %v, want %v (%v)", got, want, err)
	}
}

// detailsOf returns what a refusal says besides its code.
func detailsOf(err error) (retry *errdetails.RetryInfo, quota *errdetails.QuotaFailure) {
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.RetryInfo:
			retry = d
		case *errdetails.QuotaFailure:
			quota = d
		}
	}
	return retry, quota
}
