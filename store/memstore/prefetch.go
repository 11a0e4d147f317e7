//go:build (amd64 || arm64) && !purego

package memstore

// prefetch lets the processor fetch the two cache lines from an address on, and does not
// wait for them. Nothing need be there. A read would not do: the clock, which is read
// meanwhile, waits for all reads before it.
func prefetch(address uintptr)
