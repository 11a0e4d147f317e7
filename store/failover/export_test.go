package failover

// MaxRunning sets how many calls may be under way. The race detector breaks down now
// and then if thousands of goroutines live at a time.
func MaxRunning(n int64) Option { return func(c *core) { c.most = n } }
