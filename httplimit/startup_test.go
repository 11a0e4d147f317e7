package httplimit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
)

// TestOptionsRefuse: what makes no sense stops the program before a request gets round a
// limit, and says what to do.
func TestOptionsRefuse(t *testing.T) {
	keyed := sluice.NewKeyed(sluice.PerSecond(1))
	own := prefixes(ownNets)
	all, wide := mustPrefix("0.0.0.0/0"), mustPrefix("::/0")
	byIP := func(opts ...httplimit.KeyedOption) { httplimit.ByIP(sluice.PerSecond(1), opts...) }
	byHost := httplimit.KeyBy(func(r *http.Request) (string, error) { return r.Host, nil })
	for _, c := range []struct {
		says string
		f    func()
	}{
		{"TrustProxies: no proxy is named", func() { httplimit.TrustProxies() }},
		{"TrustProxies: proxy network ::ffff:10.0.0.0/8 would trust everybody", func() { httplimit.TrustProxies(mustPrefix("::ffff:10.0.0.0/8")) }},
		{
			"httplimit: TrustProxies: 0.0.0.0/0 trusts everybody, so that every client chooses its own address (name the networks of your proxies, or use TrustHops)",
			func() { httplimit.TrustProxies(own[0], all) },
		},
		{"httplimit: Cloudflare: ::/0 trusts everybody", func() { httplimit.Cloudflare(wide) }},
		{"httplimit: AWSALB: 0.0.0.0/0 trusts everybody", func() { httplimit.AWSALB(all) }},
		{"Cloudflare: a proxy network is invalid", func() { httplimit.Cloudflare(mustPrefix("")) }},
		{"TrustHops: 0 is no number", func() { httplimit.TrustHops(0) }},
		{"ClientHeader: the header has no name", func() { httplimit.ClientHeader("", own...) }},
		{"(TrustHops and AWSALB): give one", func() { byIP(httplimit.TrustHops(1), httplimit.AWSALB(own...)) }},
		{"(Cloudflare and UnixSocket): give one", func() { byIP(httplimit.Cloudflare(own...), httplimit.UnixSocket()) }},
		{"(XRealIP and GoogleCloud): give one", func() { byIP(httplimit.XRealIP(own...), httplimit.GoogleCloud()) }},
		{`Headers: unknown dialect "draft-99"`, func() { httplimit.Headers("draft-99") }},
		{"Jitter: the fraction", func() { httplimit.Jitter(-1) }},
		{"IPv6Prefix: 0 is not", func() { httplimit.IPv6Prefix(0) }},
		{"KeyBy makes the key", func() { httplimit.Middleware(keyed, byHost, httplimit.IPv6Prefix(56)) }},
		{"KeyBy makes the key", func() { httplimit.Middleware(keyed, byHost, httplimit.TrustHops(1)) }},
		{`Health: "/a/../b" is no plain path`, func() { httplimit.Health("/a/../b") }},
		{`Health: "healthz" is no plain path`, func() { httplimit.Health("healthz") }},
		{`Health: "/a%2fb" is no plain path`, func() { httplimit.Health("/a%2fb") }},
		{"invalid limit", func() { httplimit.ByIP(sluice.Limit{Count: -1}) }},
		{"httplimit: Middleware: the Keyed is nil", func() { httplimit.Middleware(nil) }},
		{"httplimit: Held: the Keyed is nil", func() { httplimit.Held(nil, 0, 0) }},
		{"httplimit: HeldRules: the engine is nil", func() { httplimit.HeldRules(nil, 0) }},
		{"httplimit: Rules: the engine is nil (make it with engine.New)", func() { httplimit.Rules(nil) }},
	} {
		if got := panics(c.f); !strings.Contains(got, c.says) {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
}

// panics returns with what f does.
func panics(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}
