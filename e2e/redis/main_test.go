package redis

import (
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

// TestMain finds goroutines that were left behind. Clients are silent: that servers
// die is no news here.
func TestMain(m *testing.M) {
	logging.Disable()
	// rueidis closes connections to nodes that have left a Cluster, or that a slot has
	// moved away from, after five seconds.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"),
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient).redirectOrNew.func1"))
}
