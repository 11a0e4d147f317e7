// Package sluicegrpc limits gRPC calls, those that a server gets and those that a
// client makes.
//
// An [Interceptor] decides by one limit per peer ([ByPeer]), by a sluice.Keyed with a
// key of your choice ([Keyed]), or by rules ([Rules]). Its four methods are what
// grpc.UnaryInterceptor, grpc.StreamInterceptor, grpc.WithUnaryInterceptor and
// grpc.WithStreamInterceptor take.
//
// # What a refused call gets
//
//	limited, never, banned    ResourceExhausted
//	unavailable               Unavailable
//	missing_key, ambiguous    InvalidArgument
//	no_rule                   PermissionDenied
//
// ResourceExhausted carries a RetryInfo, unless the call can never pass, and a
// QuotaFailure with the rule and the limit; never the key. A server also sets the
// trailer grpc-retry-pushback-ms, by which gRPC's own retries (retryPolicy in the
// service config) come back at the right moment, or not at all. This package does not
// send calls again itself. Retries of gRPC happen below the interceptors of a client: it
// is charged once, the server for each.
//
// A refusal by this process matches sluice.ErrLimited and, with errors.As, a
// *sluice.LimitedError; one that came from the other side does not.
//
// # What rules see
//
// The path is the full method, /package.Service/Method; the HTTP method is POST, as
// it is for all of gRPC. On a server the host is what the client called it
// (:authority), headers are the incoming metadata, and the address is the peer's. On a
// client the host is what the target names (api.example.com:443, or the path of a Unix
// socket), headers are the outgoing metadata, and there is no address. The length of
// messages is not known. A peer without an address, as at a Unix socket, has 0.0.0.0.
// [Fill] adds what only the program knows: user, attributes, cost.
//
// # Addresses
//
// No metadata is trusted, unless [BehindProxies] says from whom: a client writes what it
// likes.
package sluicegrpc
