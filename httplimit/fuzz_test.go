package httplimit

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// FuzzClientAddress: whatever a client sends ahead, what our proxy adds behind it counts,
// on the same line or on one of its own; and a stranger is never believed.
func FuzzClientAddress(f *testing.F) {
	for _, seed := range []string{
		"", ",", "1.2.3.4", "1.2.3.4, 10.0.0.9", `for="`, `for="\"`, `for="\\`, `";for=1.2.3.4`, "for=unknown, for=_x", `for="[::1]:80";by=x`,
		"[::ffff:1.2.3.4%eth0]:1", "\x00", "for=1.2.3.4;for=1.2.3.5", strings.Repeat("10.0.0.1,", 50), `\`, `"\`,
	} {
		f.Add(seed)
	}
	own := netip.MustParsePrefix("10.0.0.0/8")
	byXFF, byForwarded := ClientAddress(TrustProxies(own)), ClientAddress(TrustForwarded(own))
	ask := func(find func(*http.Request) netip.Addr, remote, name string, lines ...string) string {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = remote
		r.Header[name] = lines
		return find(r).String()
	}
	f.Fuzz(func(t *testing.T, sent string) {
		const proxy, stranger, client = "10.0.0.1:1", "198.51.100.1:1", "203.0.113.7"
		for _, got := range []string{
			ask(byXFF, proxy, forwardedFor, sent+", "+client),
			ask(byXFF, proxy, forwardedFor, sent, client),
			ask(byXFF, proxy, forwardedFor, sent, client+":99, 10.0.0.2"),
			ask(byForwarded, proxy, forwarded, sent+", for="+client),
			ask(byForwarded, proxy, forwarded, sent, `proto=http;for="`+client+`:8"`),
			ask(byForwarded, proxy, forwarded, sent+`,for="[::ffff:`+client+`]", for=10.0.0.2`),
		} {
			if got != client {
				t.Errorf("behind %q: %s", sent, got)
			}
		}
		for _, got := range []string{ask(byXFF, stranger, forwardedFor, sent), ask(byForwarded, stranger, forwarded, sent)} {
			if got != "198.51.100.1" {
				t.Errorf("%q of a stranger: %s", sent, got)
			}
		}
		for _, got := range []string{ask(byXFF, proxy, forwardedFor, sent), ask(byForwarded, proxy, forwarded, sent)} {
			addr, err := netip.ParseAddr(got)
			if err != nil || addr.Is4In6() || addr.Zone() != "" || addr.IsUnspecified() {
				t.Errorf("%q: %s", sent, got)
			}
		}
	})
}

// FuzzAddress: what is read as an address is written in one way only.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"1.2.3.4", "1.2.3.4:80", "[::1]:80", "::1", "[fe80::1%a]", "::ffff:1.2.3.4", "", ":", "[", "[]", "1.2.3.4%a", "::%", "0.0.0.0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addr, ok := parseAddress(text)
		if !ok {
			return
		}
		again, ok := parseAddress(addr.String())
		if !ok || again != addr || addr.Is4In6() || addr.Zone() != "" || addr.IsUnspecified() {
			t.Errorf("%q: %v, then %v", text, addr, again)
		}
		if key := appendKey(nil, addr, 64); len(key) == 0 || len(key) > 64 {
			t.Errorf("%q: key %q", text, key)
		}
	})
}

// FuzzAnswer: what servers say of their limits is never read as something absurd, and
// what we say ourselves is understood, whatever the limit is called.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"7", "-7", "99999999999999999999", "Sat, 01 Jan 2000 00:00:07 GMT", `"default";r=0;t=30`, `"a";r=0;t=3, "b";r=1`, `"a\"";r=0;t=1`, `"`, `";r=0`, `"a";r=;t=`, ",", "a;b",
	} {
		f.Add(seed)
	}
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []time.Duration{parseRetryAfter(text, now), parseRateLimit(text)} {
			if got < 0 {
				t.Errorf("%q: %v", text, got)
			}
		}
		line := newField(sfString(text), ";r=", 0, ";t=", 42).text
		if got := parseRateLimit(line + `, "other";r=5;t=99`); got != 42*time.Second {
			t.Errorf("%q: %v", line, got)
		}
	})
}

// FuzzScanIPv4: what is read quickly is what would be read slowly, and stands there as
// it has to be written.
func FuzzScanIPv4(f *testing.F) {
	for _, seed := range []string{
		"192.0.2.1:4711", "192.0.2.1", "0.0.0.0:1", "01.2.3.4:5", "1.2.3.4:", "1.2.3.4:65536", "1.2.3:4", "1.2.3.4.5", "256.1.1.1:1", "1.2.3.4:1:2", "1.2.3.0004:1", "[1.2.3.4]:1", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		four, size := scanIPv4(text)
		if size == 0 {
			return
		}
		slow, ok := parseSlowly(text)
		if slow != netip.AddrFrom4(four) || ok == slow.IsUnspecified() || slow.String() != text[:size] {
			t.Errorf("%q: %v, but %v %v", text, four, slow, ok)
		}
	})
}
