package sluice

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Parse reads a limit from text:
//
//	100/s                                  a token bucket: 100 per second, 100 at once
//	100/s burst=200                        the same with 200 at once
//	5/10s   10r/s   100/minute   1e6/d     other ways to write rates
//	token_bucket 60/m refill=interval      60 tokens at once every minute
//	leaky_bucket 10/s burst=50 max_wait=2s one every 100 ms, 50 may queue, none for over 2 s
//	warm_up 100/s warm_up=10s cold_factor=3
//	fixed_window 1000/h                    aligned to the hour
//	fixed_window 5/m start=first_hit       a minute from the first request on
//	fixed_window 10000/d zone=Europe/Berlin        a day of the calendar there
//	fixed_window 50000/w zone=Europe/Berlin        a week of the calendar there, from Monday on
//	1e6/mo zone=Europe/Berlin anchor_day=15        a month from the 15th to the 15th
//	1e7/y                                          a year of the calendar, in UTC
//	sliding_window 100/m sub_windows=6
//	sliding_window 100/m weighted
//	sliding_log 10/s
//	0/s                                    nothing passes
//	unlimited                              everything passes
//
// Units are us, ms, s, m (always minutes), h, d, w, mo (months) and y (years), or the
// words second, minute, hour, day, week, month and year. The error is a *[LimitError].
func Parse(text string) (Limit, error) {
	l, field, reason, hint := parse(text)
	if reason != "" {
		return Limit{}, &LimitError{Limit: clip(text), Field: field, Reason: reason, Hint: hint}
	}
	if err := l.Validate(); err != nil {
		return Limit{}, asWritten(err, text)
	}
	return l, nil
}

// asWritten lets an error about a limit quote the text that it came from.
func asWritten(err error, text string) error {
	var e *LimitError
	if errors.As(err, &e) {
		e.Limit = clip(text)
	}
	return err
}

// MustParse is Parse for constants: it panics if the text is no limit.
func MustParse(text string) Limit {
	l, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return l
}

const rateHint = `write the limit as a rate with options, such as "100/s burst=200"`

// parse reads a limit without looking at whether its parts fit together. A
// reason that is not empty says what is wrong with which field.
func parse(text string) (l Limit, field, reason, hint string) {
	words := strings.Fields(text)
	if len(words) > 0 && !strings.ContainsAny(words[0], "/=") && (words[0][0] < '0' || words[0][0] > '9') {
		l.Algorithm = Algorithm(words[0])
		if l.Algorithm == "gcra" {
			l.Algorithm = TokenBucket
		}
		var e *LimitError
		if errors.As(l.checkAlgorithm(), &e) {
			return l, e.Field, e.Reason, e.Hint
		}
		if words = words[1:]; l.Algorithm == NoLimit && len(words) == 0 {
			return l, "", "", ""
		}
	}
	if len(words) == 0 {
		return l, "rate", "missing", rateHint
	}
	if field, reason, hint = l.parseRate(words); reason != "" {
		return l, field, reason, hint
	}
	seen := map[string]bool{}
	for i, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		if seen[name] {
			return l, clip(name), "given twice", "leave one out"
		}
		seen[name] = true
		if reason, hint = l.parseOption(name, value); reason != "" {
			return l, clip(name), reason, optionHintFor(words[1+i:], hint)
		}
	}
	if l.Zone != "" {
		l.byCalendar()
	}
	return l, "", "", ""
}

// parseRate reads the first of the words; the others help to tell what was meant.
func (l *Limit) parseRate(words []string) (field, reason, hint string) {
	count, per, ok := strings.Cut(words[0], "/")
	if !ok && strings.Contains(words[0], "=") {
		return "rate", "missing", rateHint
	}
	if !ok {
		return "period", "missing", rateHintFor(words)
	}
	n, err := parseCount(strings.TrimSuffix(count, "r"))
	if err != nil {
		return "count", fmt.Sprintf("%q is no whole number from 0 to 1e15", clip(count)), rateHintFor(words)
	}
	l.Count = n
	if l.Calendar = calendarUnits[cmp.Or(unitWords[per], per)]; l.Calendar != "" {
		return "", "", ""
	}
	if l.Period, err = parsePeriod(per); err != nil {
		return "period", fmt.Sprintf("%q is no time with a unit", clip(per)), periodHintFor(words)
	}
	return "", "", ""
}

// parseOption reads name=value.
func (l *Limit) parseOption(name, value string) (reason, hint string) {
	var err error
	zero := false // an option that is given says something
	switch name {
	case "burst":
		l.Burst, err = parseCount(value)
		zero = l.Burst == 0
	case "max_wait":
		l.MaxWait, err = parsePeriod(value)
	case "refill":
		l.Refill = Refill(value)
	case "start":
		l.Start = Start(value)
	case "zone":
		l.Zone = value
	case "anchor_day":
		l.AnchorDay, err = strconv.Atoi(value)
		zero = l.AnchorDay == 0
	case "sub_windows":
		l.SubWindows, err = strconv.Atoi(value)
		zero = l.SubWindows == 0
	case "weighted":
		l.Weighted = true
		if value != "" && value != "true" {
			return fmt.Sprintf("%q is not true", clip(value)), "leave the option out for false"
		}
	case "max_log":
		l.MaxLog, err = parseCount(value)
		zero = l.MaxLog == 0
	case "warm_up":
		l.WarmUp, err = parsePeriod(value)
	case "cold_factor":
		l.ColdFactor, err = strconv.ParseFloat(value, 64)
		zero = l.ColdFactor == 0
	default:
		return "unknown option", "use burst, max_wait, refill, start, zone, anchor_day, sub_windows, weighted, max_log, warm_up or cold_factor"
	}
	switch {
	case err != nil || value == "" && name != "weighted":
		return fmt.Sprintf("%q cannot be read", clip(value)), ""
	case zero:
		return "must be at least 1", "leave it out for the default"
	}
	return "", ""
}

// parseCount reads a whole number, also as 1e6.
func parseCount(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n < 0 {
			return 0, strconv.ErrRange
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, err
	}
	if !(f >= 0 && f <= 1e15) || f != math.Trunc(f) {
		return 0, strconv.ErrRange
	}
	return int64(f), nil
}

var unitWords = map[string]string{
	"second": "s", "seconds": "s", "sec": "s", "minute": "m", "minutes": "m", "min": "m",
	"hour": "h", "hours": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
	"month": "mo", "months": "mo", "year": "y", "years": "y", "millisecond": "ms", "milliseconds": "ms",
	"microsecond": "us", "microseconds": "us", "µs": "us",
}

// calendarUnits have no fixed length.
var calendarUnits = map[string]Calendar{"mo": Month, "y": Year}

var units = map[string]time.Duration{
	"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute,
	"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// parsePeriod reads a time such as s, 10s, 1.5h, minute or 1h30m.
func parsePeriod(s string) (time.Duration, error) {
	digits := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' })
	if digits < 0 {
		return 0, strconv.ErrSyntax // no unit
	}
	unit := s[digits:]
	if word, ok := unitWords[unit]; ok {
		unit = word
	}
	size, ok := units[unit]
	if !ok {
		d, err := time.ParseDuration(s)
		if err == nil && d <= 0 {
			err = strconv.ErrRange
		}
		return d, err
	}
	if n, err := strconv.ParseInt(s[:digits], 10, 64); err == nil && n > 0 && n <= math.MaxInt64/int64(size) {
		return time.Duration(n) * size, nil // exact, as no float64 is for years
	}
	n := 1.0
	if digits > 0 {
		var err error
		if n, err = strconv.ParseFloat(s[:digits], 64); err != nil {
			return 0, err
		}
	}
	d := n * float64(size)
	if !(d >= 1 && d < math.MaxInt64) {
		return 0, strconv.ErrRange
	}
	return time.Duration(math.Round(d)), nil
}

// clip shortens what an error quotes.
func clip(s string) string {
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}

// String returns the limit as text that [Parse] reads.
func (l Limit) String() string {
	if l.Algorithm == NoLimit {
		return string(NoLimit)
	}
	if l.Algorithm == InFlight {
		return string(InFlight) + " " + strconv.FormatInt(l.Count, 10)
	}
	var b strings.Builder
	if l.Algorithm != "" && l.Algorithm != TokenBucket && (l.Calendar == "" || l.Algorithm != FixedWindow) {
		b.WriteString(string(l.Algorithm) + " ")
	}
	b.WriteString(strconv.FormatInt(l.Count, 10) + "/" + l.period())
	option := func(name string, set bool, value any) {
		if set {
			fmt.Fprintf(&b, " %s=%v", name, value)
		}
	}
	option("burst", l.Burst != 0 && (l.Burst != l.Count || l.Algorithm != TokenBucket), l.Burst)
	option("max_wait", l.MaxWait != 0, l.MaxWait)
	option("refill", l.Refill != "", string(l.Refill))
	option("start", l.Start != "", string(l.Start))
	option("zone", l.Zone != "" || l.Calendar == Day || l.Calendar == Week, l.zoneName())
	option("anchor_day", l.AnchorDay > 1, l.AnchorDay)
	option("sub_windows", l.SubWindows != 0, l.SubWindows)
	if l.Weighted {
		b.WriteString(" weighted")
	}
	option("max_log", l.MaxLog != 0, l.MaxLog)
	option("warm_up", l.WarmUp != 0, l.WarmUp)
	option("cold_factor", l.ColdFactor != 0, strconv.FormatFloat(l.ColdFactor, 'g', -1, 64))
	return b.String()
}

func (l Limit) zoneName() string {
	if l.Zone == "" {
		return "UTC"
	}
	return l.Zone
}

// period writes the period with the largest unit that fits.
func (l Limit) period() string {
	switch l.Calendar {
	case Year:
		return "y"
	case Month:
		return "mo"
	case Week:
		return "w"
	case Day:
		return "d"
	}
	for _, unit := range []string{"d", "h", "m", "s", "ms"} {
		size := units[unit]
		if l.Period == size {
			return unit
		}
		if l.Period > 0 && l.Period%size == 0 {
			return strconv.FormatInt(int64(l.Period/size), 10) + unit
		}
	}
	if l.Period%time.Microsecond != 0 {
		return l.Period.String() // an error wants to show it
	}
	return strconv.FormatInt(l.Period.Microseconds(), 10) + "us"
}

// MarshalText writes the limit as text; JSON uses it too.
func (l Limit) MarshalText() ([]byte, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads what [Parse] reads.
func (l *Limit) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err == nil {
		*l = parsed
	}
	return err
}
