package rulefile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
)

const merging = `
rules:
  - &usual
    name: a
    key: [ip]
    limits: &limits [1/s]
  - {name: b, <<: *usual}
  - <<: [{key: [user]}, *usual]
    name: c
`

// TestMergeKeys: what stands in the map itself counts, then the first of what is merged.
func TestMergeKeys(t *testing.T) {
	if _, err := rulefile.Parse("x.yaml", []byte(merging)); err == nil || !strings.Contains(err.Error(), "merge keys") {
		t.Errorf("without the option: %v", err)
	}
	r, err := rulefile.Parse("x.yaml", []byte(merging), rulefile.MergeKeys())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, rule := range r.Config.Rules {
		got += rule.Name + " " + strings.Join(rule.Key, ",") + " " + rule.Limits[0].Limit.String() + "; "
	}
	if want := "a ip 1/s; b ip 1/s; c user 1/s; "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"rules: [{<<: 5}]", "rules: [{<<: *none}]", "rules: [{<<: [a]}]"} {
		if _, err := rulefile.Parse("x.yaml", []byte(bad), rulefile.MergeKeys()); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestMergeKeysStayBounded: merging again and again cannot blow a file up.
func TestMergeKeysStayBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("x0: &x0 {a: 1, b: 2}\n")
	for i := range 30 {
		fmt.Fprintf(&b, "y%d: &x%d {p: *x%[1]d, q: *x%[1]d, <<: *x%[1]d}\n", i, i+1)
	}
	_, err := rulefile.Parse("x.yaml", []byte(b.String()+"rules: []\n"), rulefile.MergeKeys())
	if err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%.200v", err)
	}
}
