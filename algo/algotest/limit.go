package algotest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/algo"
)

// limit is a line that gives a limit or changes it.
type limit struct {
	name    string // empty if it is the only one
	shadow  bool
	spec    *algo.Spec
	windows []string // of a sliding_log, as they were written
}

// algorithms and the options that each of them takes.
var algorithms = map[string]struct {
	kind    algo.Kind
	options []string
}{
	"fixed_window":   {algo.FixedWindow, []string{"first_hit", "bounds"}},
	"sliding_window": {algo.SlidingWindow, []string{"sub", "weighted"}},
	"sliding_log":    {algo.SlidingLog, []string{"log_max"}},
	"token_bucket":   {algo.TokenBucket, []string{"burst", "refill", "max_wait"}},
	"gcra":           {algo.TokenBucket, []string{"burst", "refill", "max_wait"}},
	"leaky_bucket":   {algo.LeakyBucket, []string{"queue", "max_wait"}},
	"warm_up":        {algo.WarmUp, []string{"warm", "cold", "max_wait"}},
	"ban":            {algo.Ban, nil},
	"unlimited":      {algo.Unlimited, nil},
}

// parseLimit reads what follows the word limit.
func parseLimit(w *words) (*limit, error) {
	l := &limit{}
	if name, ok := strings.CutSuffix(w.peek(), ":"); ok {
		l.name = name
		w.next()
	}
	if l.shadow = w.peek() == "shadow"; l.shadow {
		w.next()
	}
	name := w.next()
	a, ok := algorithms[name]
	if !ok {
		return nil, fmt.Errorf("%q: expected an algorithm such as token_bucket", name)
	}
	spec := algo.Spec{Kind: a.kind, Sub: 10, Cold: 3}
	if a.kind != algo.Ban && a.kind != algo.Unlimited {
		if err := l.parseRates(w, &spec); err != nil {
			return nil, err
		}
	}
	for w.more() {
		if err := parseOption(w, &spec, a.options); err != nil {
			return nil, err
		}
	}
	compiled, err := algo.Compile(spec)
	if err != nil {
		return nil, err
	}
	l.spec = compiled
	return l, nil
}

// parseRates reads one rate, or all windows of a log.
func (l *limit) parseRates(w *words, spec *algo.Spec) error {
	for first := true; first || spec.Kind == algo.SlidingLog && strings.Contains(w.peek(), "/"); first = false {
		text := w.next()
		count, period, err := parseRate(text)
		if err != nil {
			return err
		}
		if spec.Kind == algo.SlidingLog {
			spec.Windows = append(spec.Windows, algo.Window{Count: count, Period: period})
			l.windows = append(l.windows, text)
			continue
		}
		spec.Count, spec.Period, spec.Burst = count, period, count
	}
	return nil
}

func parseRate(text string) (count, period int64, err error) {
	n, p, ok := strings.Cut(text, "/")
	if !ok {
		return 0, 0, fmt.Errorf("%q: expected a rate such as 10/1s", text)
	}
	if count, err = parseCount(n); err != nil {
		return 0, 0, err
	}
	period, err = parseDuration(p)
	return count, period, err
}

func parseOption(w *words, spec *algo.Spec, known []string) (err error) {
	name := w.next()
	if name != "ordinal" && !slices.Contains(known, name) {
		return fmt.Errorf("%q: expected one of %q or ordinal", name, known)
	}
	switch name {
	case "first_hit":
		spec.FirstHit = true
	case "weighted":
		spec.Kind = algo.WeightedWindow
	case "bounds":
		return parseBounds(w, spec)
	case "refill":
		spec.Kind = algo.IntervalBucket
		if how := w.next(); how != "interval" {
			err = fmt.Errorf("%q: expected refill interval", how)
		}
	case "cold":
		if spec.Cold, err = strconv.ParseFloat(w.peek(), 64); err != nil {
			err = fmt.Errorf("%q: expected a cold factor such as 3", w.peek())
		}
		w.next()
	case "burst", "queue":
		spec.Burst, err = parseCount(w.next())
	case "sub":
		spec.Sub, err = parseCount(w.next())
	case "log_max":
		spec.LogMax, err = parseCount(w.next())
	case "ordinal":
		spec.Ordinal, err = parseCount(w.next())
	case "warm":
		spec.Warm, err = parseDuration(w.next())
	case "max_wait":
		spec.MaxWait, err = parseDuration(w.next())
	}
	return err
}

// parseBounds reads calendar boundaries, which count from the base instant.
func parseBounds(w *words, spec *algo.Spec) error {
	for w.more() {
		d, err := parseDuration(w.next())
		if err != nil {
			return err
		}
		spec.Bounds = append(spec.Bounds, base.UnixMicro()+d)
	}
	return nil
}
