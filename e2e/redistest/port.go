package redistest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Servers listen on ports below those that the system gives to outgoing
// connections; a Cluster node also needs the port that lies busOffset higher.
const (
	lowestPort = 10_000
	ports      = 12_000
	busOffset  = 10_000
)

// freePort draws a port that is free together with its bus port. Somebody else may
// take it a moment later: whoever starts a server tries again then.
func freePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		if port := lowestPort + rand.IntN(ports); isFree(port) && isFree(port+busOffset) {
			return port
		}
	}
	t.Fatal("redistest: no free port")
	return 0
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
