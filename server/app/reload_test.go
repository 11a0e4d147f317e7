package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/server/app"
	"github.com/sluice-limiter/sluice/server/config"
)

func TestReload(t *testing.T) {
	f := newFile(t, "rules: [{name: login, key: [ip], limits: [5/m]}]\n")
	trail := filepath.Join(t.TempDir(), "audit.jsonl")
	r := start(t, config.Sources{Path: f.path, Flags: map[string]string{"audit": trail}})
	_, first := r.Rules()
	if first.Source != f.path || first.Hash == "" || first.Loaded.IsZero() {
		t.Errorf("%+v", first)
	}

	events, leave := r.Subscribe()
	defer leave()
	f.write("rules: [{name: login, key: [ip], limits: [10/m]}]\n")
	event := <-events // the file is watched
	if want := []string{"rule login: limit 5/m → 10/m"}; event.Source != "file" || event.Action != "reload" || !slices.Equal(event.Lines, want) {
		t.Errorf("%+v", event)
	}
	rules, second := r.Rules()
	if rules.Rules[0].Limits[0].Limit.Count != 10 || second.Hash == first.Hash || second.Hash != event.Hash {
		t.Errorf("%+v, %+v", rules, second)
	}

	f.write("rules: [{name: login, key: [ip], limits: [10/m]}]\nserver: {admin: '127.0.0.1:99999'}\n")
	event = <-events
	if event.Error == "" || event.Hash != second.Hash {
		t.Errorf("a bad setting: %+v", event)
	}
	f.write("rules: [{name: login, limits: [10]}]\n")
	event = <-events
	if event.Error == "" || event.Hash != second.Hash {
		t.Errorf("a bad file: %+v", event)
	}
	change, err := r.Reload(context.Background(), "test")
	var problems rulefile.Problems
	if !errors.As(err, &problems) || problems[0].Line != 1 || problems[0].File != f.path || change.After != second {
		t.Errorf("%+v, %v", change, err)
	}
	<-events // that attempt
	if _, still := r.Rules(); still != second {
		t.Errorf("a bad file replaced a good one: %+v", still)
	}
	if got := r.metric("sluice_reload_last_success"); got != "sluice_reload_last_success 0" {
		t.Error(got)
	}
	if got := r.metric("sluice_rules_info"); got != `sluice_rules_info{hash="`+second.Hash+`"} 1` {
		t.Error(got)
	}

	f.write("rules: [{name: login, key: [ip], limits: [10/m], mode: shadow}]\nserver: {memory: 1GiB}\n")
	event = <-events
	if want := []string{"rule login: mode enforce → shadow", "server.memory 256MiB → 1GiB: restart to apply it"}; !slices.Equal(event.Lines, want) {
		t.Errorf("%q", event.Lines)
	}
	data, err := os.ReadFile(trail)
	if err != nil || strings.Count(string(data), "\n") != len(r.Audit(0)) || !strings.Contains(string(data), `"action":"load"`) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestRulesThatAreGoneHaveNoMetrics(t *testing.T) {
	f := newFile(t, "rules: [{name: old, limits: [1/s]}]\n")
	r := start(t, config.Sources{Path: f.path})
	r.check()
	if r.metric(`sluice_decisions_total{outcome="allowed",rule="old"}`) == "" {
		t.Error("the rule has no metrics")
	}
	f.write("rules: [{name: new, limits: [1/s]}]\n")
	if _, err := r.Reload(context.Background(), "test"); err != nil {
		t.Fatal(err)
	}
	r.check()
	if got := r.metric(`sluice_decisions_total{outcome="allowed",rule="old"}`); got != "" {
		t.Error(got)
	}
	if r.metric(`sluice_decisions_total{outcome="allowed",rule="new"}`) == "" {
		t.Error("the new rule has no metrics")
	}
}

func TestReloadOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml", "rules: [{name: a, limits: [1/s]}]\n")
	r := start(t, config.Sources{Path: dir})
	write("b.yaml", "rules: [{name: b, limits: [1/s]}]\n")
	change, err := r.Reload(context.Background(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, v := r.Rules(); v.Source != dir || r.metric("sluice_rules") != "sluice_rules 2" {
		t.Errorf("%+v %+v", v, change)
	}
}

func TestValidate(t *testing.T) {
	r := start(t, config.Sources{})
	if err := r.Validate(context.Background(), []byte("rules: [{name: a, key: [user], hash: true, limits: [1/s]}]\nserver: {listen: ':80'}\n")); err != nil {
		t.Error(err)
	}
	err := r.Validate(context.Background(), []byte("rules:\n  - {name: a, limits: [1]}\n"))
	var problems rulefile.Problems
	if !errors.As(err, &problems) || problems[0].Line != 2 {
		t.Errorf("%v", err)
	}
	gone, leave := context.WithCancel(context.Background())
	leave()
	if err := r.Validate(gone, []byte("rules: 1\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever has gone: %v", err)
	}
}

func TestShadowAll(t *testing.T) {
	f := newFile(t, "rules: [{name: none, limits: [0/s]}]\n")
	r := start(t, config.Sources{Path: f.path, Flags: map[string]string{"shadow_all": "true"}})
	if d := r.check(); !d.Allowed || !d.Shadow || r.metric("sluice_shadow_all") != "sluice_shadow_all 1" {
		t.Errorf("%+v", d)
	}
	r.ShadowAll(context.Background(), false, "ann")
	if d := r.check(); d.Allowed {
		t.Errorf("%+v", d)
	}
	last := r.Audit(2)
	if last[0].Source != "ann" || last[0].Action != "shadow-all" || last[1].Source != "start" {
		t.Errorf("%+v", last)
	}
	f.write("rules: [{name: none, limits: [1/s]}]\n")
	r.ShadowAll(context.Background(), true, "ann")
	if _, err := r.Reload(context.Background(), "test"); err != nil || !r.Engine().ShadowedAll() {
		t.Errorf("a reload ends the switch: %v", err)
	}
}

func TestTokensAreReadAgain(t *testing.T) {
	const first, second = "the-first-token-of-all", "the-second-token-of-all"
	tokens := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	r := start(t, config.Sources{Flags: map[string]string{"tokens.file": tokens}})
	status := func(token string) int {
		response, _ := r.do("GET", "/v1/rules", "", "Authorization", "Bearer "+token)
		return response.StatusCode
	}
	if got := []int{status(first), status(second), status("")}; !slices.Equal(got, []int{200, 401, 401}) {
		t.Errorf("%v", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	stream, err := http.NewRequestWithContext(ctx, "GET", r.url+"/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	stream.Header.Set("Authorization", "Bearer "+first)
	events, err := r.http.Do(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	write(second + "\n")
	if _, err := r.Reload(context.Background(), "test"); err != nil {
		t.Fatal(err)
	}
	if got := []int{status(first), status(second)}; !slices.Equal(got, []int{401, 200}) {
		t.Errorf("%v", got)
	}
	if _, err := io.Copy(io.Discard, events.Body); err != nil { // it would go on for ever
		t.Error(err)
	}
	write("short")
	if _, err := r.Reload(context.Background(), "test"); err == nil || status(second) != 200 {
		t.Errorf("a bad file of tokens: %v, %d", err, status(second))
	}
	for _, token := range []string{first, second} {
		if strings.Contains(r.log.String(), token) || strings.Contains(fmt.Sprint(r.Audit(0)), token) {
			t.Error("a token stands in the log")
		}
	}
}

// 1,000 reloads under load lose no counter and leak nothing.
func TestThousandReloadsUnderLoad(t *testing.T) {
	const limit, reloads = 5000, 1000
	text := func(i int) string {
		return fmt.Sprintf("rules:\n  - {name: counted, limits: [1/d burst=%d]}\n  - {name: other-%d, key: [ip], limits: [%d/s]}\n", limit, i%3, i+1)
	}
	f := newFile(t, text(0))
	r := start(t, config.Sources{Path: f.path})
	settled := func() (goroutines int, heap uint64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	var asked, allowed atomic.Int64
	ask := func() {
		d, err := r.Engine().Check(context.Background(), engine.Request{Path: "/"})
		asked.Add(1)
		if err != nil {
			t.Error(err)
		} else if d.Allowed {
			allowed.Add(1)
		}
	}
	ask()
	reload := func(i int) {
		f.write(text(i))
		if _, err := r.Reload(context.Background(), "test"); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		reload(i)
	}
	goroutines, heap := settled()
	ctx, cancel := context.WithCancel(context.Background())
	var load sync.WaitGroup
	for range 2 {
		load.Go(func() {
			for i := 0; ctx.Err() == nil || i < 2*limit; i++ {
				ask()
				time.Sleep(10 * time.Microsecond) // leaves room for the reloads
			}
		})
	}
	for i := range reloads {
		reload(i + 50)
	}
	cancel()
	load.Wait()
	if allowed.Load() != limit {
		t.Errorf("%d of %d were allowed, the limit is %d", allowed.Load(), asked.Load(), limit)
	}
	stats := r.Engine().Stats()
	i := slices.IndexFunc(stats.Rules, func(s engine.RuleStats) bool { return s.Rule == "counted" })
	if s := stats.Rules[i]; s.Requests != asked.Load() || s.Allowed != limit {
		t.Errorf("%d were asked, and %+v counted", asked.Load(), s)
	}
	if got, want := r.metric("sluice_cost_offered_total"), fmt.Sprintf(`sluice_cost_offered_total{rule="counted"} %d`, asked.Load()); got != want && !strings.Contains(got, "e+") {
		t.Errorf("%s, want %s", got, want)
	}
	r.http.CloseIdleConnections()
	eventually(t, "no goroutine more", func() bool { n, _ := settled(); return n <= goroutines })
	if _, after := settled(); after > heap+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap, after)
	}
}

// What is logged of a bad file tells where, not what stands there.
func TestFailedReloadShowsNoLines(t *testing.T) {
	f := newFile(t, "rules: [{name: a, limits: [1/s]}]\n")
	r, err := open(t, config.Sources{Path: f.path})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	f.write("rules: [{name: a, limits: [1/s], skip: {headers: {X-Internal: my-secret}}, limts: []}]\n")
	if _, err := r.Reload(context.Background(), "test"); err == nil {
		t.Error("it was loaded")
	}
	entry := r.Audit(1)[0]
	if !strings.HasPrefix(entry.Error, f.path+":1:") || strings.Contains(entry.Error, "my-secret") || strings.Contains(r.log.String(), "my-secret") {
		t.Errorf("%+v\n%s", entry, r.log.String())
	}
}

// A reload must not open a public address to everybody: the address of the new file
// holds after a restart only, its tokens would be gone at once.
func TestReloadKeepsTokensOfAPublicAddress(t *testing.T) {
	for _, c := range []struct{ name, address, local string }{
		{"the API", "listen: ':0'", "listen: '127.0.0.1:0'"},
		{"Redis clients", "listen: '127.0.0.1:0', resp: {listen: ':0'}", "listen: '127.0.0.1:0'"},
		{"Envoy", "listen: '127.0.0.1:0', grpc: {listen: ':0'}", "listen: '127.0.0.1:0', grpc: {listen: '127.0.0.1:0'}"},
	} {
		t.Run(c.name, func(t *testing.T) { reloadWithoutTokens(t, c.address, c.local) })
	}
}

func reloadWithoutTokens(t *testing.T, address, local string) {
	const token = "the-only-token-of-all"
	env := func(name string) (string, bool) { return token, name == "TOKENS" }
	f := newFile(t, "server: {"+address+", tls: {off: true}, tokens: {env: TOKENS}}\nrules: [{name: a, limits: [1/s]}]\n")
	s := config.Sources{Path: f.path, Env: env, Flags: map[string]string{}}
	loaded, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(context.Background(), s, loaded, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Stop()
	f.write("server: {" + local + "}\nrules: [{name: a, limits: [2/s]}]\n")
	change, err := a.Reload(context.Background(), "test")
	if err == nil || !strings.Contains(err.Error(), "no tokens") || !strings.Contains(err.Error(), "restart") {
		t.Errorf("%+v, %v", change, err)
	}
	if rules, _ := a.Rules(); rules.Rules[0].Limits[0].Limit.Count != 1 || a.Engine().Set().Rules()[0].Limits[0].Limit.Count != 1 {
		t.Errorf("rules of a refused file are in force: %+v", rules)
	}
	f.write("server: {" + local + ", tokens: {env: TOKENS}}\nrules: [{name: a, limits: [2/s]}]\n")
	if _, err := a.Reload(context.Background(), "test"); err != nil {
		t.Error(err)
	}
}

func TestLinesOfChangedSettings(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("the-only-token-of-all"), 0o600); err != nil {
		t.Fatal(err)
	}
	const rules = "rules: [{name: a, limits: [1/s]}]\n"
	f := newFile(t, rules+"server: {redis: 'redis://u:first-password@127.0.0.1:1'}\n")
	r, err := open(t, config.Sources{Path: f.path})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	f.write(rules + "server: {redis: 'redis://u:second-password@127.0.0.1:1', tokens: {file: '" + tokens + "'}}\n")
	change, err := r.Reload(context.Background(), "test")
	if want := []string{"server.redis changed: restart to apply it", "server.tokens changed"}; err != nil || !slices.Equal(change.Lines, want) {
		t.Errorf("%q, %v", change.Lines, err)
	}
}
