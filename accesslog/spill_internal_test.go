package accesslog

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// FuzzSpilled: an entry comes back from its bytes as it was, and any other bytes are
// entries or an error.
func FuzzSpilled(f *testing.F) {
	f.Add("GET", "/a", "192.0.2.1", int64(1), int64(-1), []byte("\x00\x01"))
	f.Add("", "", "fe80::1%eth0", int64(1)<<60, int64(0), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, method, path, ip string, at, cost int64, garbage []byte) {
		e := Entry{Time: at, Coarse: cost%2 == 0, Method: method, Path: path, Query: ip, Agent: path, Cost: cost, Status: int(uint16(at)), Duration: time.Duration(cost), More: []Field{{method, path}, {path, ip}}}
		e.IP, _ = netip.ParseAddr(ip)
		b := appendEntry(appendEntry(nil, &e), &Entry{})
		d := entryReader{rest: string(b)}
		var back, blank Entry
		d.entry(&back)
		d.entry(&blank)
		if d.bad || d.rest != "" || fmt.Sprint(back) != fmt.Sprint(e) || fmt.Sprint(blank) != fmt.Sprint(Entry{}) {
			t.Fatalf("%+v became %+v", e, back)
		}
		for d := (entryReader{rest: string(garbage)}); d.rest != "" && !d.bad; {
			d.entry(&back)
		}
	})
}
