package rule

import (
	"strings"
	"testing"
)

func TestCanonicalPath(t *testing.T) {
	for _, c := range []struct {
		path, want string
		ambiguous  bool
	}{
		{"/", "/", false},
		{"", "/", false},
		{"*", "*", false},
		{"/login", "/login", false},
		{"/login/", "/login", false},
		{"//login", "/login", false},
		{"/api//v1/%2e%2e/login", "/api/login", false},
		{"/api/./v1/../login/.", "/api/login", false},
		{"/%6Cogin", "/login", false},
		{"/a/..", "/", false},
		{"/...", "/...", false},
		{"/a..b/.c", "/a..b/.c", false},
		{"/a%20b", "/a b", false},
		{"/caf%C3%A9", "/café", false},
		{"/café", "/café", false},
		{"/a%3Fb%23c", "/a%3fb%23c", false},
		{"/a%3fb%23c", "/a%3fb%23c", false},
		{"/a?b/../c", "/a", false},
		{"/a?b#c", "/a", false},
		{"?b", "/", false},
		{"http://example.com?b/c", "/", false},
		{"/Login", "/Login", false},
		{"http://example.com/a//b", "/a/b", false},
		{"https://example.com", "/", false},
		// A second layer of escapes stays what it is.
		{"/100%25", "/100%25", false},
		{"/%252e%252e/login", "/%252e%252e/login", false},
		{"/%25%32%65", "/%252e", false},
		// Servers read these in different ways.
		{"/login#x", "/login", true},
		{"/a/#/../b", "/a", true},
		{"#x", "/", true},
		{"/a%2Fb", "/a/b", true},
		{"/a%2f..%2fb", "/b", true},
		{"/a\\b", "/a\\b", true},
		{"/a%5Cb", "/a\\b", true},
		{"/login;x=1", "/login;x=1", true},
		{"/login%3bx", "/login;x", true},
		{"/a%00", "/a\x00", true},
		{"/a\x00", "/a\x00", true},
		{"/a%", "/a%25", true},
		{"/a%4", "/a%254", true},
		{"/a%zz", "/a%25zz", true},
		{"/%ff", "/\xff", true},
		{"/\xff/../a", "/a", true},
		{"/%c0%ae%c0%ae/a", "/\xc0\xae\xc0\xae/a", true},
		{"/../a", "/a", true},
		{"/a/../../b", "/b", true},
		{"login", "/login", true},
		{"../login", "/login", true},
		{"1http://x/login", "/1http:/x/login", true},
	} {
		got, ends, ambiguous := canonicalPath(c.path, false, nil)
		if got != c.want || ambiguous != c.ambiguous {
			t.Errorf("%q is %q, ambiguous %v; want %q, %v", c.path, got, ambiguous, c.want, c.ambiguous)
		}
		checkEnds(t, got, ends)
	}
}

func TestCanonicalPathFoldsCase(t *testing.T) {
	for path, want := range map[string]string{
		"/LogIn": "/login", "/%4Cogin": "/login", "/CAFÉ": "/café", "/%C3%89": "/é", "/A\xff": "/a\xff", "/A%3FB": "/a%3fb", "/ok": "/ok", "/é": "/é",
	} {
		if got, _, _ := canonicalPath(path, true, nil); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

// checkEnds: the segments are those between the slashes.
func checkEnds(t *testing.T, path string, ends []int32) {
	t.Helper()
	var segments []string
	for i := range ends {
		segments = append(segments, segmentAt(path, ends, i))
	}
	whole := "/" + strings.Join(segments, "/")
	if path != whole && path != "*" {
		t.Errorf("%q was cut into %q", path, segments)
	}
}

func FuzzCanonicalPath(f *testing.F) {
	for _, p := range []string{"/", "*", "/api//v1/%2e%2e/login", "/%252e%252e/", "/a%2fb", "http://h/p", "/%c3%89", "/../..", "/a;b\\c%00", "/a%3Fb%23?c#d", "/İ", "/%", "a", "/%E2%84%AA"} {
		f.Add(p, false)
		f.Add(p, true)
	}
	f.Fuzz(func(t *testing.T, p string, fold bool) {
		got, ends, ambiguous := canonicalPath(p, fold, nil)
		if got != "*" {
			checkEnds(t, got, ends)
			if got == "" || got[0] != '/' || strings.Contains(got+"/", "//") && got != "/" || strings.Contains(got+"/", "/./") || strings.Contains(got+"/", "/../") {
				t.Fatalf("%q is %q", p, got)
			}
		}
		again, _, odd := canonicalPath(got, fold, nil)
		if again != got || odd && !ambiguous {
			t.Fatalf("%q is %q, and that is %q, ambiguous %v", p, got, again, odd)
		}
	})
}

func TestCanonicalHost(t *testing.T) {
	for host, want := range map[string]string{
		"": "", "example.com": "example.com", "Example.COM:8080": "example.com", "example.com.": "example.com", "example.com.:80": "example.com",
		"[::1]:80": "[::1]", "[::1]": "[::1]", "[0:0:0:0:0:0:0:1]": "[::1]", "[2001:DB8::1]:443": "[2001:db8::1]", "::1": "[::1]",
		"192.0.2.1:80": "192.0.2.1", "[broken": "[broken", "[x]y": "[x]", "a.:": "a",
	} {
		if got := canonicalHost(host); got != want {
			t.Errorf("%q is %q, want %q", host, got, want)
		}
	}
}

func FuzzCanonicalHost(f *testing.F) {
	f.Add("Example.com.:80")
	f.Add("[::1]:80")
	f.Fuzz(func(t *testing.T, h string) {
		once := canonicalHost(h)
		if twice := canonicalHost(once); twice != once {
			t.Fatalf("%q is %q, and that is %q", h, once, twice)
		}
	})
}

func TestLongHostIsNoMoreWork(t *testing.T) {
	var table hostTable
	table.add("*.example.com", 1)
	if found := table.find(strings.Repeat("a.", 5000)+"example.com", nil); len(found) != 1 || table.most != 2 {
		t.Errorf("found %v, with %d labels to look at", found, table.most)
	}
}
