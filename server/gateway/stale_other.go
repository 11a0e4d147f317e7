//go:build !unix

package gateway

// prepareStale has nothing to do here.
func (c *wire) prepareStale() {}

// stale cannot tell: what goes over a wire can be sent again over another.
func (c *wire) stale() bool { return false }
