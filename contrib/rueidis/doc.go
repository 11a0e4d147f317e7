// Package sluicerueidis lets sluice keep its limits in Redis or Valkey through
// the client github.com/redis/rueidis: standalone, Sentinel or Cluster.
//
// [Open] connects with settings that suit a limiter; [New] takes a client that
// the program has already. Both return a [Scripter], which is all that
// redisstore.New needs.
//
// # Nothing is charged twice
//
// A script that was sent may have run, even if its answer never came. rueidis
// sends only commands again that are marked as read-only, and a script never is;
// redirections of a Cluster (MOVED, ASK) are followed, since they prove that the
// script did not run. One option breaks this: when a connection reaches its
// ConnLifetime just as it breaks, all that it carried is sent again. Open refuses
// the option; do not set it on a client that is given to New.
//
// # Deadlines
//
// A call ends at the deadline of its context. When it is cancelled before, it ends at
// once if the context has no deadline or the connection has ever carried two calls at
// a time; else rueidis reads on until the deadline, at most ConnWriteTimeout.
// AlwaysPipelining makes every call end at once; it costs a lone caller some 5 to 8 µs
// per call, so Open leaves it to the program.
package sluicerueidis
