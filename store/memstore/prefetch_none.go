//go:build !(amd64 || arm64) || purego

package memstore

// prefetch is nothing but a hint, and not known here.
func prefetch(uintptr) {}
