//go:build !race

package gateway

import (
	"net/netip"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/server/config"
)

// What is ours of every request costs no memory: to find the route by host, to write the head of
// the request and the line of the log.
func TestOwnPartsAllocNothing(t *testing.T) {
	table := &table{hosts: map[string][]route{"shop.example.com": {{}}}, rest: []route{{}}}
	line, head := make([]byte, 0, 1024), make([]byte, 0, 1024)
	x := &exchange{
		gateway: &Gateway{config: config.GatewayDefaults()}, method: "GET", host: "shop.example.com", path: "/api/orders", query: "page=1",
		client: netip.MustParseAddr("192.0.2.1"), began: time.Unix(1_700_000_000, 0), status: 200, decided: true, allowed: true,
	}
	o := &outbound{exchange: x, host: x.host, target: "/api/orders?page=1"}
	o.request = aGet
	for name, f := range map[string]func(){
		"route": func() { table.find("shop.example.com", "/api/orders") },
		"line":  func() { line = x.appendLine(line[:0], time.Millisecond) },
		"head":  func() { head = o.appendHead(head[:0], nil) },
	} {
		if n := testing.AllocsPerRun(1000, f); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
