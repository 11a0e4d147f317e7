package redisstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/internal/redistest"
	"github.com/sluice-limiter/sluice/store"
	"github.com/sluice-limiter/sluice/store/redisstore"
)

// FuzzNames: different keys have different names, whatever stands in them, and all
// names of a key lie in one slot.
func FuzzNames(f *testing.F) {
	for _, pair := range [][2]string{{"a:b", "a"}, {"a}", "a%7D"}, {"}", "{"}, {"a", "a}b"}, {"{x}", "x"}, {"%", "%25"}, {"\x00", ""}} {
		f.Add(pair[0], pair[1])
	}
	specs := everyKind(f)
	nothing := fake(func() ([]int64, error) { return nil, nil })
	plain := open(f, nothing)
	tagged := open(f, nothing, redisstore.Tag(func(key string) string { return key[:len(key)/2] }))
	hashed := open(f, nothing, redisstore.HashKeys([]byte("0123456789abcdef")))
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []*redisstore.Store{plain, tagged, hashed} {
			seen := map[string]string{}
			for _, key := range []string{a, b} {
				slots := map[uint16]bool{}
				for i, p := range specs {
					for class, name := range []string{
						redisstore.StateKey(s, &store.Check{Key: key, Spec: p}), redisstore.BookKey(s, &store.Check{Key: key, Spec: p}),
					} {
						what := fmt.Sprintf("%q", key)
						if class == 1 || strings.Contains(name, ":1l:") {
							what = fmt.Sprintf("%q limit %d class %d", key, i, class)
						}
						if other, ok := seen[name]; ok && other != what {
							t.Errorf("%s and %s are both called %q", what, other, name)
						}
						seen[name] = what
						slots[redisstore.Slot(name)] = true
					}
				}
				if key != "" && len(slots) != 1 {
					t.Errorf("the names of %q lie in %d slots", key, len(slots))
				}
			}
		}
	})
}

// TestSlot: slots are those of Redis.
func TestSlot(t *testing.T) {
	c := dial(t, redistest.Start(t, "--cluster-enabled", "yes"))
	for _, name := range []string{"a", "sluice:1s:{ann}", "sluice:1l:{ann}0123456789abcdef", "{}x", "x{", "a{b}{c}", "a{{b}}", "\xff\x00{\x80}", ""} {
		if got, want := int64(redisstore.Slot(name)), do(t, c, "CLUSTER", "KEYSLOT", name); got != want {
			t.Errorf("%q: slot %d, want %d", name, got, want)
		}
	}
}

// TestHashedKeys: what the keys say does not leave the process, and other secrets
// mean other budgets.
func TestHashedKeys(t *testing.T) {
	c := dial(t, redistest.Start(t))
	p := everyKind(t)[0]
	one := open(t, c, redisstore.HashKeys([]byte("secret number one")))
	two := open(t, c, redisstore.HashKeys([]byte("secret number two")))
	check := store.Check{Key: "ann@example.org", Spec: p, Cost: 60, ID: "id", Hold: 1e6}
	take(t, one, store.Spend, check)
	take(t, one, store.Reserve, check)
	if v := take(t, one, store.Spend, check)[0].Verdict; v.Allowed {
		t.Error("a hashed key has no budget of its own")
	}
	if v := take(t, two, store.Spend, check)[0].Verdict; !v.Allowed {
		t.Error("another secret has the same budget")
	}
	for _, key := range allKeys(t, c) {
		if strings.Contains(key, "ann") || strings.Contains(key, "example") {
			t.Errorf("the key shows in %q", key)
		}
	}
	wantLifetimes(t, c)
}

// TestMembers: who beats is alive until its time is over; ranks count from 0
// without gaps.
func TestMembers(t *testing.T) {
	c := dial(t, redistest.Start(t))
	now := time.Date(2024, 5, 17, 10, 20, 30, 0, time.UTC)
	s := open(t, c, redisstore.WithClock(func() time.Time { return now }))
	want := func(id string, rank, live int) {
		t.Helper()
		gotRank, gotLive, err := s.Beat(context.Background(), "fleet", id, 10*time.Second)
		if err != nil || gotRank != rank || gotLive != live {
			t.Errorf("%s: rank %d of %d (%v), want %d of %d", id, gotRank, gotLive, err, rank, live)
		}
	}
	want("b", 0, 1)
	want("a", 0, 2)
	want("b", 1, 2)
	want("b\xff", 2, 3)
	want("b", 1, 3)
	if err := s.Leave(context.Background(), "fleet", "a"); err != nil {
		t.Fatal(err)
	}
	want("b", 0, 2)
	now = now.Add(6 * time.Second)
	want("c", 2, 3)
	now = now.Add(5 * time.Second)
	want("c", 0, 1)
	wantLifetimes(t, c)
	if err := s.Leave(context.Background(), "fleet", "c"); err != nil {
		t.Fatal(err)
	}
	if keys := allKeys(t, c); len(keys) != 0 {
		t.Errorf("all have left, and there is %q", keys)
	}
	for _, bad := range []struct {
		group, id string
		hold      time.Duration
	}{{"", "a", 1e9}, {"g", "", 1e9}, {strings.Repeat("g", 1025), "a", 1e9}, {"g", "a", 0}, {"g", "a", -1}} {
		if _, _, err := s.Beat(context.Background(), bad.group, bad.id, bad.hold); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
}
