package sluicegrpc

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/sluice-limiter/sluice/engine"
)

// heldStream is a stream of a client that counts as in flight. It is over when gRPC says
// so: by an error of any of its methods, by its last message, or by the end of its context.
type heldStream struct {
	grpc.ClientStream
	in   engine.Entry
	stop func() bool // to wait for the context
	many bool        // the server may send more than one message
}

func newHeldStream(ctx context.Context, stream grpc.ClientStream, desc *grpc.StreamDesc, in engine.Entry) *heldStream {
	return &heldStream{ClientStream: stream, in: in, stop: context.AfterFunc(ctx, in.Leave), many: desc.ServerStreams}
}

func (s *heldStream) leave() {
	s.stop()
	s.in.Leave()
}

// Header implements grpc.ClientStream.
func (s *heldStream) Header() (metadata.MD, error) {
	md, err := s.ClientStream.Header()
	if err != nil {
		s.leave()
	}
	return md, err
}

// SendMsg implements grpc.ClientStream. After io.EOF, RecvMsg tells how the stream ended.
func (s *heldStream) SendMsg(m any) error {
	err := s.ClientStream.SendMsg(m)
	if err != nil && !errors.Is(err, io.EOF) {
		s.leave()
	}
	return err
}

// RecvMsg implements grpc.ClientStream.
func (s *heldStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil || !s.many {
		s.leave()
	}
	return err
}
