package sluicegrpc_test

import (
	"net/netip"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"

	"github.com/sluice-limiter/sluice"
	sluicegrpc "github.com/sluice-limiter/sluice/contrib/grpc"
	"github.com/sluice-limiter/sluice/httplimit"
)

// The second call of a pair is refused exactly if both are one client.
func TestWhoIsOnePeer(t *testing.T) {
	tests := []struct {
		name, first, second string
		same                bool
	}{
		{"another port", "192.0.2.1:1", "192.0.2.1:2", true},
		{"another address", "192.0.2.1:1", "192.0.2.2:1", false},
		{"an IPv4-mapped address", "192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
		{"two IPv4-mapped addresses", "[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.2]:1", false},
		{"the same /64", "[2001:db8::1]:1", "[2001:db8::ffff:ffff:ffff:ffff]:1", true},
		{"another /64", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"another zone", "[fe80::1%eth0]:1", "[fe80::1%eth1]:1", true},
		{"no addresses", "@", "/run/client.sock", true},
		{"none and one", "@", "192.0.2.1:1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sluicegrpc.ByPeer(sluice.PerMinute(1)))
				wantCode(t, call(t, w.client(t, tt.first)), codes.OK)
				want := codes.OK
				if tt.same {
					want = codes.ResourceExhausted
				}
				wantCode(t, call(t, w.client(t, tt.second)), want)
			})
		})
	}
}

// A peer that has no address cannot choose its key by the name it calls us.
func TestAuthorityIsNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sluicegrpc.ByPeer(sluice.PerMinute(1)))
		wantCode(t, call(t, w.client(t, "@", grpc.WithAuthority("a.example.com"))), codes.OK)
		wantCode(t, call(t, w.client(t, "@", grpc.WithAuthority("b.example.com"))), codes.ResourceExhausted)
	})
}

func TestForwardedAddresses(t *testing.T) {
	proxies := sluicegrpc.BehindProxies(httplimit.TrustProxies(netip.MustParsePrefix("10.0.0.0/8")))
	tests := []struct {
		name          string
		opts          []sluicegrpc.Option
		peer          string
		first, second []string // x-forwarded-for
		same          bool
	}{
		{"nobody is trusted", nil, "10.0.0.1:1", []string{"192.0.2.1"}, []string{"192.0.2.2"}, true},
		{"a proxy is", []sluicegrpc.Option{proxies}, "10.0.0.1:1", []string{"192.0.2.1"}, []string{"192.0.2.2"}, false},
		{"who is no proxy is not", []sluicegrpc.Option{proxies}, "198.51.100.1:1", []string{"192.0.2.1"}, []string{"192.0.2.2"}, true},
		{"what the client adds is not read", []sluicegrpc.Option{proxies}, "10.0.0.1:1", []string{"1.1.1.1, 192.0.2.1"}, []string{"2.2.2.2, 192.0.2.1"}, true},
		{"several values are one list", []sluicegrpc.Option{proxies}, "10.0.0.1:1", []string{"1.1.1.1", "192.0.2.1"}, []string{"2.2.2.2", "192.0.2.1, 10.0.0.9"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newWorld(t, sluicegrpc.ByPeer(sluice.PerMinute(1), tt.opts...)).client(t, tt.peer)
				codesOf := []codes.Code{codes.OK, codes.OK}
				if tt.same {
					codesOf[1] = codes.ResourceExhausted
				}
				for i, hops := range [][]string{tt.first, tt.second} {
					ctx := metadata.NewOutgoingContext(t.Context(), metadata.MD{"x-forwarded-for": hops})
					_, err := c.EmptyCall(ctx, new(testpb.Empty))
					wantCode(t, err, codesOf[i])
				}
			})
		})
	}
}
