// Package topkeys finds the keys that are seen most often lately, in fixed memory.
//
// A [Table] counts in the way of space-saving: it holds a fixed number of counters,
// and a key that has none takes over the counter with the least count, which it
// remembers as its error. So every count is an upper bound, and
//
//	Count − Error ≤ true count ≤ Count
//
// holds for every key that Top returns, always, for what was added in the windows
// that Top speaks of. The counters are laid out as buckets of eight, and a key has
// only those of its own bucket, which is one cache line to search and no list to keep
// in order. A key is never missing if it makes up more than an eighth of what falls
// into its bucket; of evenly spread small keys that is one in [Counters] of all
// requests.
//
// Two windows are kept, the one that runs and the one before, so that a Top is about
// the last one to two windows and nothing older.
//
// Adding costs a hash and a short search, some tens of nanoseconds. Where that is too
// much, a [Sampler] picks one in k, which is added with the weight k: then the bound
// above is one for the sample, and the true count is within [Deviation] of that.
package topkeys
