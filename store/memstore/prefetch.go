//go:build (amd64 || arm64) && !purego

package memstore

import "unsafe"

// prefetch lets the processor fetch the two cache lines from p on, and does not
// wait for them. A read would not do: the clock, which is read meanwhile, waits
// for all reads before it.
//
//go:noescape
func prefetch(p unsafe.Pointer)
