package sluiceotel

// Limit lowers MaxRules, to get there sooner.
func (o *Observer) Limit(n int) { o.maxRules = n }
