package httplimit_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/httplimit"
)

// hostile is one request of the corpus: who sends what, and which key it has to be
// charged to. The key is written down by whoever made up the request, from the client
// that he had in mind; nothing of the package has a hand in it.
type hostile struct {
	remote string
	header []string
	key    string
}

// class is a kind of attack, or of odd but honest traffic. make returns request number
// i of client c; requests of one client must have one key, and those of two clients two.
type class struct {
	name string
	opts []httplimit.KeyedOption
	make func(rnd *rand.Rand, c, i int) hostile
}

const (
	clients     = 10
	perClient   = 12 // so that a class has 120 requests
	corpusSeed  = 20261115
	trustedPeer = "10.0.0.1:443"
)

func v4(c int) string { return fmt.Sprintf("203.0.113.%d", c+1) }

func junk(rnd *rand.Rand) string {
	texts := []string{
		"", "unknown", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4:", "[::1", "::1]", "1.2.3.4%1", "<script>", "'",
		"\x1b[31m", "1.2.3.4\\", "0x7f000001", "::ffff:1.2.3", "-", "_", "1.2.3.4:port", "%31.2.3.4", "１.2.3.4", "1,2;3=4\"", "2001:db8:::1", "[1.2.3.4]",
	}
	return texts[rnd.IntN(len(texts))]
}

func anyV4(rnd *rand.Rand) string {
	return fmt.Sprintf("%d.%d.%d.%d", 1+rnd.IntN(9), rnd.IntN(256), rnd.IntN(256), rnd.IntN(256))
}

var viaProxy = []httplimit.KeyedOption{httplimit.TrustProxies(prefixes(ownNets, "2001:db8:ffff::/48")...)}

var viaForwarded = []httplimit.KeyedOption{httplimit.TrustForwarded(prefixes(ownNets)...)}

var corpus = []class{
	{"spoofed headers, no proxy", nil, func(rnd *rand.Rand, c, _ int) hostile {
		spoof := anyV4(rnd)
		return hostile{v4(c) + ":1", []string{xff, spoof, fwd, "for=" + spoof, "X-Real-Ip", spoof, "Cf-Connecting-Ip", spoof}, v4(c)}
	}},
	{"any port", nil, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{fmt.Sprintf("%s:%d", v4(c), rnd.IntN(65536)), nil, v4(c)}
	}},
	{"mapped IPv4 in all its forms", nil, func(rnd *rand.Rand, c, i int) hostile {
		forms := []string{"[::ffff:203.0.113.%d]:1", "[::ffff:cb00:71%02x]:1", "[0:0:0:0:0:ffff:203.0.113.%d]:1", "[::FFFF:203.0.113.%d]:1", "203.0.113.%d:1", "::ffff:203.0.113.%d"}
		return hostile{fmt.Sprintf(forms[i%len(forms)], c+1), nil, v4(c)}
	}},
	{"addresses of one IPv6 network", nil, func(rnd *rand.Rand, c, _ int) hostile {
		remote := fmt.Sprintf("[2001:db8:0:%x:%x:%x:%x:%x]:1", c+1, rnd.IntN(65536), rnd.IntN(65536), rnd.IntN(65536), 1+rnd.IntN(65535))
		return hostile{remote, nil, fmt.Sprintf("2001:db8:0:%x::/64", c+1)}
	}},
	{"IPv6 written in other ways", nil, func(rnd *rand.Rand, c, i int) hostile {
		forms := []string{"[2001:db8:0:%x::1]:1", "[2001:DB8:0:%X::1]:1", "[2001:0db8:0000:%04x:0000:0000:0000:0001]:1", "[2001:db8:0:%x:0:0:0.0.0.1]:1"}
		return hostile{fmt.Sprintf(forms[i%len(forms)], c+0xa), nil, fmt.Sprintf("2001:db8:0:%x::/64", c+0xa)}
	}},
	{"IPv6 /56", []httplimit.KeyedOption{httplimit.IPv6Prefix(56)}, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{fmt.Sprintf("[2001:db8:0:%x::%x]:1", (c+1)<<8|rnd.IntN(256), rnd.IntN(65536)), nil, fmt.Sprintf("2001:db8:0:%x00::/56", c+1)}
	}},
	{"translated IPv4 (NAT64)", nil, func(rnd *rand.Rand, c, i int) hostile {
		forms := []string{"[64:ff9b::203.0.113.%d]:1", "[64:ff9b::cb00:71%02x]:1", "[64:FF9B:0:0:0:0:203.0.113.%d]:1", "203.0.113.%d:1"}
		return hostile{fmt.Sprintf(forms[i%len(forms)], c+1), nil, v4(c)}
	}},
	{"translated IPv4, longer and shorter networks", []httplimit.KeyedOption{httplimit.IPv6Prefix(128)}, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{fmt.Sprintf("[64:ff9b::203.0.113.%d]:%d", c+1, rnd.IntN(65536)), nil, v4(c)}
	}},
	{"IPv4 at the end of zeros", nil, func(rnd *rand.Rand, c, i int) hostile {
		if c == 0 {
			return hostile{fmt.Sprintf("[::1]:%d", i), nil, "::1"}
		}
		forms := []string{"[::203.0.113.%d]:1", "[::cb00:71%02x]:1"}
		return hostile{fmt.Sprintf(forms[i%len(forms)], c+1), nil, fmt.Sprintf("::cb00:71%02x", c+1)}
	}},
	{"zones", nil, func(rnd *rand.Rand, c, i int) hostile {
		return hostile{fmt.Sprintf("[2001:db8:0:%x::1%%eth%d]:1", c+1, i), nil, fmt.Sprintf("2001:db8:0:%x::/64", c+1)}
	}},
	{"no address at all", nil, func(rnd *rand.Rand, _, _ int) hostile {
		remotes := []string{"", "@", "/run/client.sock", ":80", "host:80", "0.0.0.0:1", "[::]:1", "1.2.3:4", "[]:1"}
		return hostile{remotes[rnd.IntN(len(remotes))], []string{xff, anyV4(rnd)}, "0.0.0.0"}
	}},
	{"rotating left end", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{trustedPeer, []string{xff, anyV4(rnd) + ", " + anyV4(rnd) + ", " + v4(c)}, v4(c)}
	}},
	{"junk at the left end", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{trustedPeer, []string{xff, junk(rnd) + "," + junk(rnd) + " ,\t" + v4(c)}, v4(c)}
	}},
	{"several lines", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{trustedPeer, []string{xff, anyV4(rnd), xff, junk(rnd), xff, v4(c), xff, "10.0.0.7, 10.0.0.8"}, v4(c)}
	}},
	{"trusted addresses in front", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{trustedPeer, []string{xff, fmt.Sprintf("10.1.1.%d, %s, 10.0.0.%d", rnd.IntN(256), v4(c), 2+rnd.IntN(200))}, v4(c)}
	}},
	{"junk from a trusted hop", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		bad := strings.ReplaceAll(junk(rnd), ",", "")
		return hostile{trustedPeer, []string{xff, fmt.Sprintf("%s, %s, 10.0.0.%d", anyV4(rnd), bad, 10+c)}, fmt.Sprintf("10.0.0.%d", 10+c)}
	}},
	{"junk from the peer", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{fmt.Sprintf("10.0.0.%d:1", 10+c), []string{xff, anyV4(rnd) + "," + strings.ReplaceAll(junk(rnd), ",", "")}, fmt.Sprintf("10.0.0.%d", 10+c)}
	}},
	{"untrusted peer beside the network", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{fmt.Sprintf("11.0.0.%d:1", c+1), []string{xff, anyV4(rnd)}, fmt.Sprintf("11.0.0.%d", c+1)}
	}},
	{"IPv6 proxy, mapped client", viaProxy, func(rnd *rand.Rand, c, i int) hostile {
		forms := []string{"::ffff:%s", "%s", "[::ffff:%s]:99", "%s:99", "[::ffff:%s]"}
		return hostile{"[2001:db8:ffff::1]:1", []string{xff, anyV4(rnd) + "," + fmt.Sprintf(forms[i%len(forms)], v4(c))}, v4(c)}
	}},
	{"hop-by-hop", viaProxy, func(rnd *rand.Rand, c, i int) hostile {
		forms := []string{"x-forwarded-for", "close, X-Forwarded-For", "X-FORWARDED-FOR, keep-alive"}
		return hostile{fmt.Sprintf("10.0.0.%d:1", 10+c), []string{xff, anyV4(rnd), "Connection", forms[i%len(forms)]}, fmt.Sprintf("10.0.0.%d", 10+c)}
	}},
	{"the other headers", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		spoof := anyV4(rnd)
		return hostile{trustedPeer, []string{xff, v4(c), fwd, "for=" + spoof, "X-Real-Ip", spoof, "True-Client-Ip", spoof, "X-Client-Ip", spoof}, v4(c)}
	}},
	{"huge header", viaProxy, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{trustedPeer, []string{xff, strings.Repeat(anyV4(rnd)+",", 4000) + v4(c)}, v4(c)}
	}},
	{"Forwarded, rotating", viaForwarded, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{trustedPeer, []string{fwd, "for=" + anyV4(rnd) + ";proto=http, for=" + v4(c) + ";by=10.0.0.1"}, v4(c)}
	}},
	{"Forwarded, open quotes", viaForwarded, func(rnd *rand.Rand, c, i int) hostile {
		left := []string{`for="`, `for="1.2.3.4`, `"`, `for=\`, `for="\"`, `host="`, `for="a", for="`, `";for="`}
		right := []string{"for=%s", `for="%s:1"`, `proto=https;for="%s"`, `for="[::ffff:%s]:8"`}
		return hostile{trustedPeer, []string{fwd, left[i%len(left)] + ", " + fmt.Sprintf(right[rnd.IntN(len(right))], v4(c))}, v4(c)}
	}},
	{"Forwarded, hidden hop", viaForwarded, func(rnd *rand.Rand, c, i int) hostile {
		hidden := []string{"for=unknown", "for=_secret", `for="_gazonk"`, "proto=http", "for=", "for", `for="2001:db8::1"`, "for=1.2.3.4;for=1.2.3.5"}
		return hostile{trustedPeer, []string{fwd, fmt.Sprintf("for=%s, %s, for=10.0.0.%d", anyV4(rnd), hidden[i%len(hidden)], 10+c)}, fmt.Sprintf("10.0.0.%d", 10+c)}
	}},
	{"one header, twice or as a list", []httplimit.KeyedOption{httplimit.XRealIP(prefixes(ownNets)...)}, func(rnd *rand.Rand, c, i int) hostile {
		h := hostile{remote: fmt.Sprintf("10.0.0.%d:1", 10+c), key: fmt.Sprintf("10.0.0.%d", 10+c)}
		if h.header = []string{"X-Real-Ip", anyV4(rnd) + ", " + anyV4(rnd)}; i%2 == 0 {
			h.header = []string{"X-Real-Ip", anyV4(rnd), "X-Real-Ip", anyV4(rnd)}
		}
		return h
	}},
	{"by count", []httplimit.KeyedOption{httplimit.TrustHops(2)}, func(rnd *rand.Rand, c, _ int) hostile {
		return hostile{"198.51.100.1:1", []string{xff, junk(rnd) + "," + anyV4(rnd) + "," + v4(c) + ", 198.51.100.2"}, v4(c)}
	}},
}

// keyLog is told of every key.
type keyLog struct {
	mu   sync.Mutex
	last string
}

func (k *keyLog) Observe(key string, _ int64, _ sluice.Decision) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = key
}

// TestHostileCorpus: every request is charged to the key that was written down for it,
// so that nobody gets round a limit and no two clients are one.
func TestHostileCorpus(t *testing.T) {
	if len(corpus) < 20 || clients*perClient < 100 {
		t.Fatalf("%d classes of %d requests", len(corpus), clients*perClient)
	}
	for _, class := range corpus {
		log := &keyLog{}
		rnd := rand.New(rand.NewPCG(corpusSeed, 1))
		h := httplimit.Middleware(sluice.NewKeyed(sluice.PerHour(1), sluice.WithObserver(log)), class.opts...)(served)
		seen, admitted := map[string]bool{}, 0
		for i := range perClient {
			for c := range clients {
				want := class.make(rnd, c, i)
				log.last = "nothing"
				if serve(h, request(want.remote, want.header...)).StatusCode == http.StatusOK {
					admitted++
				}
				if seen[want.key] = true; log.last != want.key {
					t.Errorf("%s (seed %d): from %q with %.200q: key %q, want %q", class.name, corpusSeed, want.remote, want.header, log.last, want.key)
				}
			}
		}
		if admitted != len(seen) {
			t.Errorf("%s: %d clients, %d requests admitted", class.name, len(seen), admitted)
		}
	}
}
