package audit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/audit"
)

func parse(t *testing.T, text string) rule.Config {
	t.Helper()
	c, err := rule.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const login = `{"rules":[{"name":"login","match":{"methods":["POST"],"paths":["/login"]},"key":["ip"],"limits":["5/m","50/h"]}]}`

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after string
		want          []string
	}{
		{"nothing", login, login, nil},
		{
			"one limit", login, strings.Replace(login, "5/m", "10/m", 1),
			[]string{"rule login: limit 5/m → 10/m"},
		},
		{
			"fewer limits", login, strings.Replace(login, `,"50/h"`, "", 1),
			[]string{"rule login: limits 5/m, 50/h → 5/m"},
		},
		{
			"mode", login, strings.Replace(login, `"key"`, `"mode":"shadow","key"`, 1),
			[]string{"rule login: mode enforce → shadow"},
		},
		{"a default written out", login, strings.Replace(login, `"key"`, `"mode":"enforce","scope":"cluster","cost":1,"key"`, 1), nil},
		{
			"key, wait and path", login,
			strings.NewReplacer(`["ip"]`, `["ip","user"]`, `"/login"`, `"/login","/sign-in"`, `"limits"`, `"wait":"2s","limits"`).Replace(login),
			[]string{"rule login: match.paths /login → /login, /sign-in", "rule login: key ip → ip, user", "rule login: wait none → 2s"},
		},
		{
			"added and removed", login,
			`{"rules":[{"name":"api","key":["user"],"limits":["100/s"],"mode":"shadow"}]}`,
			[]string{"rule api: added, limits 100/s by user, mode shadow", "rule login: removed"},
		},
		{
			"default and paths", `{"rules":[]}`, `{"default":"deny","paths":{"fold_case":true},"rules":[]}`,
			[]string{"default allow → deny", "paths.fold_case false → true"},
		},
		{
			"order",
			`{"rules":[{"name":"a","limits":["1/s"]},{"name":"b","limits":["1/s"]}]}`,
			`{"rules":[{"name":"b","limits":["1/s"]},{"name":"a","limits":["1/s"]}]}`,
			[]string{"rules: order a, b → b, a"},
		},
		{
			"candidate", login, strings.Replace(login, `"key"`, `"candidate":["3/m"],"key"`, 1),
			[]string{"rule login: candidates none → 3/m"},
		},
		{
			"a limit with a name", login, strings.Replace(login, `"50/h"`, `{"name":"hourly","limit":"50/h"}`, 1),
			[]string{`rule login: limit 50/h → {"name":"hourly","limit":"50/h"}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := audit.Diff(parse(t, tt.before), parse(t, tt.after))
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

// Headers, attributes, keys and texts in conditions may be secrets: the lines tell that they
// changed, not what they are.
func TestDiffShowsNoSecrets(t *testing.T) {
	with := func(fields string) string { return strings.Replace(login, `"key"`, fields+`,"key"`, 1) }
	headers := strings.Replace(login, `"paths"`, `"headers":{"X-Gone":"secret-0","X-Same":"secret-1"},"paths"`, 1)
	for _, tt := range []struct {
		name          string
		before, after string
		want          []string
	}{
		{
			"match.headers", headers,
			strings.NewReplacer("X-Gone", "X-New", "secret-1", "secret-2").Replace(headers),
			[]string{"rule login: match.headers X-Gone: removed", "rule login: match.headers X-New: added", "rule login: match.headers X-Same: value changed"},
		},
		{
			"match.attributes", login, strings.Replace(login, `"paths"`, `"attributes":{"plan":"secret-4"},"paths"`, 1),
			[]string{"rule login: match.attributes plan: added"},
		},
		{
			"match.when", login, strings.Replace(login, `"paths"`, `"when":"header('X') == 'secret-5'","paths"`, 1),
			[]string{"rule login: match.when: added"},
		},
		{
			"another condition", strings.Replace(login, `"paths"`, `"when":"user == 'secret-5'","paths"`, 1), strings.Replace(login, `"paths"`, `"when":"user == 'secret-6'","paths"`, 1),
			[]string{"rule login: match.when: changed"},
		},
		{
			"skip.headers", login, with(`"skip":{"headers":{"X-Internal":"secret-3"}}`),
			[]string{"rule login: skip.headers X-Internal: added"},
		},
		{
			"skip.keys", with(`"skip":{"keys":["secret-1"]}`), with(`"skip":{"keys":["secret-1","secret-2"]}`),
			[]string{"rule login: skip.keys 1 key → 2 keys"},
		},
		{
			"another key", with(`"skip":{"keys":["secret-1"]}`), with(`"skip":{"keys":["secret-2"]}`),
			[]string{"rule login: skip.keys changed: 1 key"},
		},
		{
			"overrides", login, with(`"overrides":[{"keys":["secret-1","secret-2"],"limits":["9/m","99/h"]}]`),
			[]string{"rule login: overrides none → 2 keys with 9/m, 99/h"},
		},
		{
			"keys of overrides", with(`"overrides":[{"keys":["secret-1"],"limits":["9/m","99/h"]}]`), with(`"overrides":[{"keys":["secret-2"],"limits":["9/m","99/h"]}]`),
			[]string{"rule login: overrides changed: 1 key with 9/m, 99/h"},
		},
		{
			"a new rule", `{"rules":[]}`, with(`"overrides":[{"keys":["secret-1"],"limits":["9/m","99/h"]}],"skip":{"headers":{"X":"secret-1"}}`),
			[]string{"rule login: added, limits 5/m, 50/h by ip"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := audit.Diff(parse(t, tt.before), parse(t, tt.after))
			if !slices.Equal(got, tt.want) || strings.Contains(strings.Join(got, "\n"), "secret-") {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(tt.want, "\n  "))
			}
		})
	}
}

func TestDiffOfLongValuesIsCut(t *testing.T) {
	long := func(last string) string {
		return strings.Replace(login, `"key"`, `"skip":{"ips":["`+strings.Repeat(`192.0.2.1","`, 100)+last+`"]},"key"`, 1)
	}
	got := audit.Diff(parse(t, long("192.0.2.2")), parse(t, long("192.0.2.3")))
	if len(got) != 1 || len(got[0]) > 300 || !strings.HasPrefix(got[0], "rule login: skip.ips changed: ") {
		t.Errorf("%d lines: %q", len(got), got)
	}
}
