package algotest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sluice-limiter/sluice/store"
)

// file is one script file.
type file struct {
	name    string
	lines   []string
	scripts []script
}

// script is one named sequence of steps.
type script struct {
	name  string
	steps []step
}

// step is one line: a limit, or a request.
type step struct {
	line  int
	limit *limit // nil: a request

	at    int64 // µs after the base instant
	op    store.Op
	check store.Check // all but the spec, the ID and the mark
	id    string      // of the reservation, or of the booking that a cancel names
	on    []string    // names of the limits that are asked; all if empty
	want  []want
}

// want is one expected value, and where it stands in its line.
type want struct {
	limit string // empty: the whole decision
	field string // verdict, remaining, retry, reset, wait or by
	value string // as it was written
	col   int
}

// word is a word of a line and the byte at which it begins.
type word struct {
	text string
	col  int
}

// words is what is left of a line.
type words struct{ left []word }

func split(line string) *words {
	line, _, _ = strings.Cut(line, "#")
	w := &words{}
	for col := 0; col < len(line); {
		if line[col] == ' ' {
			col++
			continue
		}
		text, _, _ := strings.Cut(line[col:], " ")
		w.left = append(w.left, word{text, col})
		col += len(text)
	}
	return w
}

func (w *words) more() bool { return len(w.left) > 0 }

// peek returns the next word, or nothing at the end of the line.
func (w *words) peek() string {
	if !w.more() {
		return ""
	}
	return w.left[0].text
}

func (w *words) next() string { return w.take().text }

func (w *words) take() word {
	if !w.more() {
		return word{}
	}
	first := w.left[0]
	w.left = w.left[1:]
	return first
}

// parse reads a script file. Errors name the file, the line and what was
// expected there.
func parse(name, text string) (*file, error) {
	f := &file{name: name, lines: strings.Split(text, "\n")}
	for i, line := range f.lines {
		if strings.ContainsAny(line, "\t\r") {
			return nil, fmt.Errorf("%s:%d: expected spaces only, found a tab or carriage return", name, i+1)
		}
		if err := f.parseLine(split(line), i+1); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	for _, s := range f.scripts {
		if len(s.steps) == 0 {
			return nil, fmt.Errorf("%s: script %s: expected steps", name, s.name)
		}
	}
	return f, nil
}

func (f *file) parseLine(w *words, line int) error {
	if !w.more() {
		return nil
	}
	verb := w.next()
	if verb == "script" {
		return f.begin(w)
	}
	if len(f.scripts) == 0 {
		return fmt.Errorf("%q: expected script NAME first", verb)
	}
	s := &f.scripts[len(f.scripts)-1]
	st := step{line: line}
	var err error
	switch verb {
	case "limit":
		if st.limit, err = parseLimit(w); err == nil {
			err = s.fits(st.limit)
		}
	case "at":
		err = s.parseRequest(w, &st)
	default:
		err = fmt.Errorf("%q: expected script, limit or at", verb)
	}
	s.steps = append(s.steps, st)
	return err
}

func (f *file) begin(w *words) error {
	name := w.next()
	if name == "" || w.more() {
		return errors.New("expected script NAME, a single word")
	}
	if slices.ContainsFunc(f.scripts, func(s script) bool { return s.name == name }) {
		return fmt.Errorf("%q: expected a new name, this one is taken", name)
	}
	f.scripts = append(f.scripts, script{name: name})
	return nil
}

// fits refuses an unnamed limit beside named ones, and one that is no shadow behind
// one that is.
func (s *script) fits(l *limit) error {
	for _, st := range s.steps {
		if st.limit != nil && (st.limit.name == "") != (l.name == "") {
			return errors.New("expected one limit without a name, or only limits with names")
		}
		if st.limit != nil && st.limit.shadow && !l.shadow && !s.knows(l.name) {
			return errors.New("expected shadow limits behind all others")
		}
	}
	return nil
}

// knows reports whether a limit of that name was given before.
func (s *script) knows(name string) bool {
	return slices.ContainsFunc(s.steps, func(st step) bool { return st.limit != nil && st.limit.name == name })
}

// booked reports whether a cost was spent under that name before.
func (s *script) booked(id string) bool {
	return slices.ContainsFunc(s.steps, func(st step) bool { return st.op == store.Spend && st.id == id })
}

// requests are the verbs of a request.
var requests = map[string]store.Op{
	"cost": store.Spend, "reserve": store.Reserve, "commit": store.Commit,
	"refund": store.Refund, "reset": store.Reset, "cancel": store.Cancel,
}

func (s *script) parseRequest(w *words, st *step) (err error) {
	if st.at, err = parseDuration(w.next()); err != nil {
		return err
	}
	verb := w.next()
	op, ok := requests[verb]
	if !ok {
		return fmt.Errorf("%q: expected cost, reserve, commit, cancel, refund or reset", verb)
	}
	if len(s.steps) == 0 {
		return errors.New("expected a limit before the first request")
	}
	st.op, st.check.Key, st.check.Hold = op, "k", store.MaxHold
	if op != store.Reset {
		if st.check.Cost, err = parseCount(w.next()); err != nil {
			return err
		}
	}
	for w.more() && w.peek() != "->" {
		if err = s.parseDetail(w, st); err != nil {
			return err
		}
	}
	if (op == store.Reserve || op == store.Commit || op == store.Cancel) && st.id == "" {
		return fmt.Errorf("expected %s N as ID", verb)
	}
	if op == store.Cancel && !s.booked(st.id) {
		return fmt.Errorf("%q: expected the name of a booking, given by cost N as ID", st.id)
	}
	if w.take().text == "" {
		return nil
	}
	return s.parseWants(w, st)
}

// parseDetail reads one of wait, as, hold, on and key.
func (s *script) parseDetail(w *words, st *step) (err error) {
	name := w.next()
	spends := st.op == store.Spend || st.op == store.Reserve
	switch {
	case name == "wait" && spends && w.peek() == "forever":
		st.check.MaxWait = math.MaxInt64
		w.next()
	case name == "wait" && spends:
		st.check.MaxWait, err = parseDuration(w.next())
	case name == "as" && st.op != store.Refund && st.op != store.Reset:
		st.id = w.next()
	case name == "hold" && st.op == store.Reserve:
		st.check.Hold, err = parseDuration(w.next())
	case name == "key":
		st.check.Key = w.next()
	case name == "on":
		limit := w.next()
		if !s.knows(limit) {
			return fmt.Errorf("%q: expected the name of a limit", limit)
		}
		st.on = append(st.on, limit)
	default:
		return fmt.Errorf("%q: expected ->, or a detail that this request takes (wait, as, hold, on, key)", name)
	}
	return err
}

// parseWants reads what stands after the arrow.
func (s *script) parseWants(w *words, st *step) error {
	if st.op == store.Refund || st.op == store.Reset {
		return errors.New("expected no ->: this request has no answer")
	}
	if !w.more() {
		return errors.New("expected an answer after ->")
	}
	scope := ""
	for w.more() {
		if name, ok := strings.CutSuffix(w.peek(), ":"); ok {
			if scope = name; !s.knows(name) {
				return fmt.Errorf("%q: expected the name of a limit", name)
			}
			w.next()
			continue
		}
		x, err := parseWant(w, st.op)
		if err != nil {
			return err
		}
		x.limit = scope
		st.want = append(st.want, x)
	}
	return nil
}

// verdicts are the words that stand by themselves.
var verdicts = map[store.Op][]string{
	store.Spend: {"allow", "deny"}, store.Reserve: {"allow", "deny"},
	store.Commit: {"settled", "unsettled"}, store.Cancel: {"settled", "unsettled"},
}

func parseWant(w *words, op store.Op) (want, error) {
	first := w.take()
	if slices.Contains(verdicts[op], first.text) {
		return want{field: "verdict", value: first.text, col: first.col}, nil
	}
	if op == store.Commit || op == store.Cancel {
		return want{}, fmt.Errorf("%q: expected settled or unsettled", first.text)
	}
	if !slices.Contains([]string{"remaining", "retry", "reset", "wait", "by"}, first.text) {
		return want{}, fmt.Errorf("%q: expected allow, deny, remaining, retry, reset, wait or by", first.text)
	}
	value := w.take()
	x := want{field: first.text, value: value.text, col: value.col}
	_, err := x.canonical()
	return x, err
}

// canonical returns the value as the runner writes it, so that 60s and 1m are
// the same.
func (x want) canonical() (string, error) {
	switch x.field {
	case "remaining":
		n, err := parseCount(x.value)
		return fmt.Sprint(n), err
	case "retry", "reset", "wait":
		if x.field == "retry" && x.value == "never" {
			return x.value, nil
		}
		d, err := parseDuration(x.value)
		return formatDuration(d), err
	case "by":
		if x.value == "" {
			return "", errors.New("expected the name of a limit or window after by")
		}
	}
	return x.value, nil
}
