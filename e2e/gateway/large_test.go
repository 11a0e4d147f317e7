package gateway

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/sluice-limiter/sluice/e2e/proxytest"
)

// TestLargeBodies: what goes through in either direction is not kept in memory.
func TestLargeBodies(t *testing.T) {
	size := int64(128 << 20)
	if os.Getenv("SLUICE_SOAK") != "" {
		size = 1 << 30
	}
	up := upstream(t, proxytest.FreeAddr(t))
	g := start(t, section("http://"+up.Addr))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resident := func() int64 { return int64(g.metric("process_resident_memory_bytes")) }
	before := resident()
	for range 2 {
		r, err := http.NewRequest("POST", "http://"+g.gateway+"/", io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		if _ = res.Body.Close(); string(text) != fmt.Sprintf("POST HTTP/1.1 %d", size) {
			t.Fatalf("up: %s %s", res.Status, text)
		}
		if r, err = http.NewRequest("GET", fmt.Sprintf("http://%s/?size=%d", g.gateway, size), nil); err != nil {
			t.Fatal(err)
		}
		if res, err = transport.RoundTrip(r); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, res.Body)
		if _ = res.Body.Close(); n != size || err != nil {
			t.Fatalf("down: %d bytes, %v", n, err)
		}
	}
	after := resident()
	t.Logf("%d MiB each way, twice: %d MiB in memory before, %d after", size>>20, before>>20, after>>20)
	if after-before > 32<<20 {
		t.Errorf("%d MiB in memory before, %d after", before>>20, after>>20)
	}
}
