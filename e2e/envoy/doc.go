// Package envoy tests the program sluice as Envoy uses it: the real binary, the examples
// of the documentation, and a gRPC client made of Envoy's own definitions. There is no
// Envoy in it, but its configuration is read by the definitions of Envoy's own.
package envoy
