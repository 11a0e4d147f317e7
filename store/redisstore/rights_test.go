package redisstore_test

import (
	"testing"

	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store/storetest"
)

// rights are all commands that the store needs, those inside the script included.
var rights = []string{
	"+evalsha", "+eval", "+time", "+get", "+set", "+del", "+strlen", "+getrange", "+setrange",
	"+hget", "+hset", "+hdel", "+hgetall", "+hrandfield", "+pttl", "+pexpire",
}

// TestLeastRights: a user who may do nothing else, and only with our keys, is enough.
func TestLeastRights(t *testing.T) {
	addr := redistest.Start(t)
	admin, c := dial(t, addr), dial(t, addr)
	do(t, admin, append([]string{"ACL", "SETUSER", "sluice", "on", ">secret", "~test*", "-@all", "+auth"}, rights...)...)
	do(t, c, "AUTH", "sluice", "secret")
	storetest.Run(t, fresh(c), storetest.Steps(300))
	wantLifetimes(t, admin)
}
