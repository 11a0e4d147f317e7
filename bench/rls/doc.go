// Package rls measures Envoy's rate-limit service: ours, in memory and over Redis, a
// server that answers everything with yes, and its peers. Each runs as a process of its
// own, and all get the same load in the same run. It is a module of its own, so that the
// gRPC of nobody else changes.
package rls
