package rulefile

import (
	"slices"
	"time"

	"github.com/sluice-limiter/sluice/rule"
)

// Option sets up Load, Parse and Watch.
type Option func(*options)

type options struct {
	rule       []rule.Option
	conditions *Conditions
	sections   map[string]any
	runTests   bool
	mergeKeys  bool

	debounce time.Duration
	recheck  time.Duration
	since    *Result
}

func newOptions(opts []Option) *options {
	o := &options{sections: map[string]any{}, debounce: 100 * time.Millisecond, recheck: 30 * time.Second}
	for _, opt := range opts {
		opt(o)
	}
	if o.conditions == nil {
		o.conditions = NewConditions()
	}
	return o
}

// forRules returns the options to compile rules with, and their expressions by
// conditions.
func (o *options) forRules(conditions *Conditions, more ...rule.Option) []rule.Option {
	return slices.Concat([]rule.Option{rule.Conditions(conditions.Compile)}, o.rule, more)
}

// Compile hands options to rule.Compile, such as rule.HashKey.
func Compile(opts ...rule.Option) Option {
	return func(o *options) { o.rule = append(o.rule, opts...) }
}

// WithConditions compiles when: expressions by c, so that its counters cover all
// files that are loaded with it.
func WithConditions(c *Conditions) Option {
	return func(o *options) { o.conditions = c }
}

// Section lets files have a section that is not about rules, such as "server". It is
// read as strictly as the rules into a copy of defaults, a struct with json tags, and
// returned by [Result.Section]. Without defaults (nil) it is taken as it is, as maps
// and lists.
func Section(name string, defaults any) Option {
	return func(o *options) { o.sections[name] = defaults }
}

// CheckTests makes a failing test of the files an error, so that rules that break
// their own tests are not loaded.
func CheckTests() Option {
	return func(o *options) { o.runTests = true }
}

// MergeKeys lets files have merge keys (<<: *usual): for files in a form of others, who
// read them. In rules they hide what a rule says, so they are refused without it.
func MergeKeys() Option {
	return func(o *options) { o.mergeKeys = true }
}

// Debounce sets how long Watch waits after a change for further ones; 100 ms if not
// given.
func Debounce(d time.Duration) Option {
	return func(o *options) { o.debounce = d }
}

// Recheck sets how often Watch reads the files even if nothing was reported; 30 s if
// not given.
func Recheck(d time.Duration) Option {
	return func(o *options) { o.recheck = d }
}

// Since lets Watch report only what differs from r, which [Load] returned.
func Since(r *Result) Option {
	return func(o *options) { o.since = r }
}
