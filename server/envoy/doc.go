// Package envoy reads the configuration of envoyproxy/ratelimit: a tree of descriptors
// for every domain. A [Tree] finds the limit that a descriptor has there, exactly as that
// service would, and names the rule by which the engine decides it: see [Tree.Rules].
//
// What differs from that service on purpose stands in docs/ENVOY.md.
package envoy
