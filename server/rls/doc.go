// Package rls is the door for Envoy: its rate-limit service, version 3, over gRPC, and
// the same over HTTP with JSON.
//
// A descriptor of a domain that an envoy.Tree knows is decided by the rule of its limit
// there. All other domains are decided by the rules of the engine: the entries of the
// descriptors are attributes of one request. docs/ENVOY.md tells all of it.
package rls
