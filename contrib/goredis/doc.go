// Package sluicegoredis lets sluice keep its limits in Redis or Valkey through
// the client github.com/redis/go-redis/v9: Client, ClusterClient, and the failover
// clients of Sentinel. A Ring is refused, since limits would not hold.
//
// # Nothing is charged twice
//
// A script that was sent may have run, even if its answer never came. By default
// go-redis sends a command up to three times more after a broken connection or a
// timeout (MaxRetries, and MaxRedirects in a Cluster), which would charge a
// request as often. So the scripts of this package are commands that forbid it,
// whatever the options of the client say; all other commands of the program are
// retried as before. Redirections of a Cluster (MOVED, ASK) are followed, since
// they prove that the script did not run.
//
// # Settings
//
// A call ends with its context, whatever ContextTimeoutEnabled says; the connection
// is busy until the answer comes or ReadTimeout is over. Hooks that send commands
// again on their own, and wrappers that build new commands from the old ones, are
// outside of what this package can see: do not use any.
package sluicegoredis
