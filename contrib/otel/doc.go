// Package sluiceotel tells OpenTelemetry of the decisions of a sluice engine: an
// [Observer] counts them as metrics, and [Annotate] writes one to the span of its
// request. It uses the API alone: SDK and exporter are up to the program. No attribute
// holds a key, a path or anything else that a client can choose.
package sluiceotel
