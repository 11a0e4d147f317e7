// Package compare shows what every algorithm does to the same traffic.
//
// A [Traffic] is made by [Pattern] or read from an access log by [FromLog]. [Run] plays
// it through limits, by the code that decides in production, on a clock that stands at
// the time of each request; the [Report] has the figures, and draws them for a terminal
// or as an SVG file. The same traffic and limits give the same report, byte for byte.
package compare
