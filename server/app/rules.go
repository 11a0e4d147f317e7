package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/engine"
	"github.com/sluice-limiter/sluice/rule"
	"github.com/sluice-limiter/sluice/server/api"
	"github.com/sluice-limiter/sluice/server/audit"
	"github.com/sluice-limiter/sluice/server/config"
)

// rules are what is in force, and from where.
type rules struct {
	changing sync.Mutex     // one change at a time; guards the next three
	failed   bool           // the last reload did not succeed
	read     string         // hash of the files as the last successful reload found them
	previous *config.Loaded // with what was in force before, for Rollback; nil at first

	mu     sync.Mutex // guards all below
	loaded *config.Loaded
	ver    api.Version
}

func (r *rules) version() api.Version {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ver
}

// current returns what is in force.
func (r *rules) current() (*config.Loaded, api.Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.loaded, r.ver
}

func (r *rules) set(loaded *config.Loaded, v api.Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loaded, r.ver = loaded, v
}

// versionOf describes what was loaded just now.
func (a *App) versionOf(loaded *config.Loaded) api.Version {
	source := cmp.Or(a.sources.Path, loaded.Config.Envoy.Config, config.BuiltIn)
	return api.Version{Hash: hashOf(loaded.Rules.Config), Loaded: now(), Source: source}
}

// hashOf tells rule sets apart, and is the same on all instances that have the same
// rules, whatever their files are called.
func hashOf(c rule.Config) string {
	data, err := json.Marshal(c)
	if err != nil {
		data = fmt.Append(nil, c)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// first takes note of the rules with which the server starts.
func (a *App) first(loaded *config.Loaded) {
	v := a.versionOf(loaded)
	a.rules.set(loaded, v)
	a.rules.read = loaded.Rules.Hash
	a.metrics.InForce(v.Hash)
	a.metrics.Reloaded(v.Loaded)
	a.audit.Add(audit.Entry{Time: v.Loaded, Source: "start", Action: "load", Lines: []string{count(len(loaded.Rules.Config.Rules)) + " from " + v.Source}, Hash: v.Hash})
	a.warn(loaded.Rules.Warnings)
	if a.config.ShadowAll {
		a.ShadowAll(context.Background(), true, "start")
	}
}

func count(rules int) string {
	if rules == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", rules)
}

func (a *App) warn(warnings rulefile.Problems) {
	for _, w := range warnings {
		a.logger.Warn("rules: "+w.Reason, "file", w.File, "line", w.Line, "rule", w.Rule, "hint", w.Hint)
	}
}

// Reload reads the rules again and puts them in force if all is well with them; else
// those in force stay. source says who asked, for the audit log.
func (a *App) Reload(ctx context.Context, source string) (api.Change, error) {
	a.rules.changing.Lock()
	defer a.rules.changing.Unlock()
	return a.reload(ctx, source)
}

// reload is Reload for who holds changing.
func (a *App) reload(ctx context.Context, source string) (api.Change, error) {
	if err := errors.Join(ctx.Err(), a.Ready()); err != nil {
		return api.Change{}, err
	}
	a.notify.reloading()
	defer a.notify.ready()
	if a.certificate != nil {
		a.certificate.reload()
	}
	before, from := a.rules.current()
	loaded, err := a.sources.Again(before, a.guarded()...)
	var routed []string
	if err == nil {
		swap := func() error {
			if a.gateway == nil && loaded.Rules.Set.HasConcurrency() {
				return errNoHolder
			}
			return a.engine.Swap(loaded.Rules.Set)
		}
		routed, err = a.applyWithGateway(&before.Gateway, &loaded.Gateway, swap)
	}
	if err != nil {
		a.rules.failed = true
		a.metrics.ReloadFailed()
		a.audit.Add(audit.Entry{Time: now(), Source: source, Action: "reload", Hash: from.Hash, Error: told(err)})
		a.logger.Error("rules not reloaded, those in force stay", "source", source, "error", told(err))
		return api.Change{Before: from, After: from}, err
	}
	change := a.putInForce(loaded, source, "reload", routed...)
	a.metrics.Reloaded(change.After.Loaded)
	a.rules.failed, a.rules.read = false, loaded.Rules.Hash
	return change, nil
}

// Rollback puts the rules in force again that were before the last change. Tokens and
// settings stay, and so does the file: the next reload puts that in force. A second one
// undoes the first.
func (a *App) Rollback(ctx context.Context, source string) (api.Change, error) {
	a.rules.changing.Lock()
	defer a.rules.changing.Unlock()
	if err := errors.Join(ctx.Err(), a.Ready()); err != nil {
		return api.Change{}, err
	}
	if a.rules.previous == nil {
		return api.Change{}, api.ErrNoPrevious
	}
	before, _ := a.rules.current()
	loaded := *before
	loaded.Rules, loaded.Envoy = a.rules.previous.Rules, a.rules.previous.Envoy.Instead(before.Envoy)
	if err := a.engine.Swap(loaded.Rules.Set); err != nil {
		return api.Change{}, err
	}
	return a.putInForce(&loaded, source, "rollback"), nil
}

// putInForce makes known what the engine goes by already.
func (a *App) putInForce(loaded *config.Loaded, source, action string, more ...string) api.Change {
	before, from := a.rules.current()
	to := a.versionOf(loaded)
	lines := append(audit.Diff(before.Rules.Config, loaded.Rules.Config), settingsDiff(&before.Config, &loaded.Config)...)
	lines = append(lines, more...)
	a.metrics.Decisions.Keep(loaded.Rules.Set)
	a.metrics.InForce(to.Hash)
	a.rules.set(loaded, to)
	if from.Hash != to.Hash {
		a.rules.previous = before
	}
	if before.Config.Tokens != loaded.Config.Tokens || !slices.Equal(before.Tokens, loaded.Tokens) {
		a.setHandler(loaded.Tokens)
		lines = append(lines, "server.tokens changed")
	}
	// That a mistake is gone is worth an entry, even if nothing changed.
	if len(lines) > 0 || a.rules.failed {
		a.audit.Add(audit.Entry{Time: to.Loaded, Source: source, Action: action, Lines: lines, Hash: to.Hash})
		a.logger.Info("rules changed", "action", action, "source", source, "hash", to.Hash, "changes", lines)
		a.warn(loaded.Rules.Warnings)
	} else if source != fromFile {
		a.logger.Info("rules read again, nothing changed", "source", source)
	}
	return api.Change{Before: from, After: to, Lines: lines}
}

// errNoHolder is about rules that count who is in flight, which came together with the
// gateway that is to hold them.
var errNoHolder = errors.New("a rule has a limit of concurrency, and the gateway that would hold its requests is not open yet: restart to open it")

// fromFile is the source of changes that the watcher saw.
const fromFile = "file"

// settingsDiff names settings that were changed and need a restart: all but tokens. A URL
// may differ in its password alone, and is not shown.
func settingsDiff(before, after *config.Config) []string {
	var lines []string
	for _, s := range config.Settings() {
		switch {
		case strings.HasPrefix(s.Name, "tokens."), s.Same(before, after):
		case s.IsURL():
			lines = append(lines, "server."+s.Name+" changed: restart to apply it")
		default:
			lines = append(lines, fmt.Sprintf("server.%s %s → %s: restart to apply it", s.Name, quoted(s.Text(before)), quoted(s.Text(after))))
		}
	}
	return lines
}

func quoted(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// watch reloads when the files change.
func (a *App) watch(ctx context.Context) {
	if a.sources.Path == "" {
		return
	}
	loaded, _ := a.rules.current()
	changed := func(seen *rulefile.Result, err error) { a.fileChanged(ctx, seen, err) }
	err := rulefile.Watch(ctx, a.sources.Path, changed, rulefile.Since(loaded.Rules))
	if ctx.Err() == nil {
		a.logger.Error("rules are no longer watched: reload them by signal or API", "error", err)
	}
}

// fileChanged hears of what the watcher has read, which only tells that something changed:
// it is read again in the one place where rules are put in force, after whatever else is
// being put in force. Somebody may have reloaded these files already, and rolled them back
// since: then they are no news.
func (a *App) fileChanged(ctx context.Context, seen *rulefile.Result, err error) {
	a.rules.changing.Lock()
	defer a.rules.changing.Unlock()
	if err != nil || a.rules.failed || seen.Hash != a.rules.read {
		_, _ = a.reload(ctx, fromFile) // logged and audited there
	}
}

// Engine returns what decides.
func (a *App) Engine() *engine.Engine { return a.engine }

// Metrics returns what is counted.
func (a *App) Metrics() http.Handler { return a.metrics.Handler() }

// Rules returns what is in force.
func (a *App) Rules() (rule.Config, api.Version) {
	loaded, v := a.rules.current()
	return loaded.Rules.Config, v
}

// Validate reports what is wrong with the text of a rule file, as rulefile.Problems.
// The parser cannot be interrupted, so whoever has gone is noticed before and after it.
func (a *App) Validate(ctx context.Context, yaml []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := config.Check("rules.yaml", yaml, a.secret, a.gateway != nil)
	if left := ctx.Err(); left != nil {
		return left
	}
	return err
}

// ShadowAll turns every rule to shadow, or back.
func (a *App) ShadowAll(_ context.Context, on bool, source string) {
	a.rules.changing.Lock()
	defer a.rules.changing.Unlock()
	a.engine.ShadowAll(on)
	line := "all rules as they are written"
	if on {
		line = "all rules to shadow: nobody is refused"
	}
	a.audit.Add(audit.Entry{Time: now(), Source: source, Action: "shadow-all", Lines: []string{line}, Hash: a.rules.version().Hash})
	a.logger.Warn(line, "source", source)
}

// Audit returns the last n changes, newest first.
func (a *App) Audit(n int) []audit.Entry { return a.audit.Last(n) }

// Subscribe returns changes as they happen, until the function is called or the server
// ends.
func (a *App) Subscribe() (<-chan audit.Entry, func()) { return a.audit.Subscribe() }

// ErrStopping is why a server that ends is not ready.
var ErrStopping = errors.New("the server is shutting down")

// Ready is nil if requests can be decided. A Redis that is down does not matter: what
// rules say for that decides.
func (a *App) Ready() error {
	if a.stopping.Load() {
		return ErrStopping
	}
	return nil
}
