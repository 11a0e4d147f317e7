// Package replay runs requests of the past through the rules of today: the same engine
// that enforces rules decides them, on a clock that stands at the time of each request.
//
// [Run] takes entries of an access log and makes a [Report]: whom each rule would have
// refused, how often and when. [Player] is the part below it, for whoever has requests
// from elsewhere: it decides one request at a given time.
//
// What a replay cannot know: whether a client that is refused would have come back
// earlier or not at all, and for how long a request would have waited in a queue of this
// process. A request that a rule would let wait for a window is counted as refused.
package replay
