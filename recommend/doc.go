// Package recommend finds the limit for traffic of the past: the smallest one that would
// have refused hardly anybody who should not be refused, with an error bar, checked on
// traffic that it was not fitted to.
//
// [Collect] reads a log once and keeps what its clients did, key by key. [Run] labels keys
// that must not drive the limit up, fits limits on the first part of the time, and tells
// what they would have done on the rest. [algo] decides, as it does in the server.
//
// A recommendation is only as good as its data: with too few keys or days Run refuses with
// a [ThinError].
package recommend
