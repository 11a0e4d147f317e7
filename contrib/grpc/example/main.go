// Example is a gRPC server that limits every client address.
package main

import (
	"log"
	"net"

	"google.golang.org/grpc"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
)

func main() {
	limit := sluicegrpc.ByPeer(sluice.PerSecond(100)) // for every client address
	server := grpc.NewServer(grpc.UnaryInterceptor(limit.UnaryServer), grpc.StreamInterceptor(limit.StreamServer))
	listener, err := net.Listen("tcp", ":50051")
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.Serve(listener)) // after registering your services
}
