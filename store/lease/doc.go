// Package lease takes tokens from another store ahead, in batches, and decides
// locally.
//
// A lease is an amount that the inner store has already counted as spent, and
// that this instance may give to requests until a deadline. The deadline is what
// keeps the limit: tokens of a window die with their window or sub-window, tokens
// of a bucket at a greatest age A, which the bucket pays for out of its burst. So
// in strict mode, the default, any number of instances together never admit more
// than the limit does; docs/LEASES.md has the proof.
//
// How much is taken follows the demand of this instance: nothing for a key that
// is asked now and then, up to a share of the limit for a hot one. Half a batch
// before it runs out the next one is fetched in the background. A request that
// finds nothing waits for the batch that is under way, in order; it is denied
// only when the store itself denies it.
//
// Token buckets, fixed windows and sliding windows are leased. Everything else
// goes to the inner store, and so do requests that accept to wait, reservations,
// and costs above the greatest batch; for buckets in strict mode the store decides
// them, too, by the smaller burst that leaves room for leases. A peek is answered
// here while there are tokens, else by the store. A refund goes to the lease that
// was spent from, and what does not fit there to the store.
package lease
