package sluice

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// spoken recognizes rates as people say them: 100 per minute, 100 req/s, 100rpm.
var spoken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^([0-9][0-9.e]*) *` +
		`(?:(?:r|reqs?|requests?|q|quer(?:y|ies)|calls?|hits?|times)? *(?:/|per|an?|every|each) *([0-9.]*) *([a-zµ]+)|[rq]p([smhd]))$`)
})

// moreUnits are words for units that a limit does not take.
var moreUnits = map[string]string{"secs": "s", "mins": "m", "hr": "h", "hrs": "h"}

// longestRate is how many words a rate has at most: 100 requests per 10 seconds.
const longestRate = 5

// rateHintFor says how to write the rate at the beginning of words that are none.
func rateHintFor(words []string) string {
	for n := min(len(words), longestRate); n > 0; n-- {
		if rate := asRate(strings.Join(words[:n], " ")); rate != "" && n == 1 {
			return "write " + rate
		} else if rate != "" {
			return "write " + rate + ", without words and blanks"
		}
	}
	if _, err := parseCount(words[0]); err == nil {
		return "say per what: " + clip(words[0]) + "/s"
	}
	return rateHint
}

// asRate returns a rate that somebody wrote in words as it has to be written, or "".
func asRate(text string) string {
	m := spoken().FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	unit := strings.ToLower(m[3] + m[4])
	for _, names := range []map[string]string{unitWords, moreUnits} {
		if short, ok := names[unit]; ok {
			unit = short
		}
	}
	count, per := m[1], m[2]+unit
	if _, err := parseCount(count); err != nil {
		return wholeRate(count, per)
	}
	if _, err := parsePeriod(per); err != nil && calendarUnits[per] == "" {
		return ""
	}
	return count + "/" + per
}

// wholeRate returns a rate with a fraction, such as 1.5/s, in whole numbers: 3/2s. It
// is empty if that cannot be.
func wholeRate(count, per string) string {
	whole, fraction, ok := strings.Cut(count, ".")
	period, err := parsePeriod(per)
	if !ok || err != nil || len(fraction) > 6 {
		return ""
	}
	n, err := parseCount(whole + fraction)
	if err != nil || n == 0 {
		return ""
	}
	times := int64(1)
	for range fraction {
		times *= 10
	}
	common := gcd(n, times)
	l := Limit{Count: n / common, Period: period * time.Duration(times/common)}
	if l.Validate() != nil {
		return ""
	}
	return strconv.FormatInt(l.Count, 10) + "/" + l.period()
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// optionExamples show how options are written.
var optionExamples = map[string]string{
	"burst": "20", "max_wait": "2s", "refill": "interval", "start": "first_hit", "zone": "Europe/Berlin", "anchor_day": "15",
	"sub_windows": "6", "max_log": "200000", "warm_up": "10s", "cold_factor": "3",
}

// optionHintFor says how to write the option at the beginning of words that is none:
// burst 20 and burst:20 are meant to be burst=20.
func optionHintFor(words []string, hint string) string {
	name, value, colon := strings.Cut(words[0], ":")
	if colon && value == "" && len(words) > 1 {
		value = words[1]
	}
	if name == words[0] && len(words) > 1 && !strings.Contains(words[1], "=") {
		value = words[1]
	}
	if _, known := optionExamples[name]; known && value != "" {
		return "write " + name + "=" + clip(value)
	}
	name, _, _ = strings.Cut(words[0], "=")
	if example, known := optionExamples[name]; known && hint == "" {
		return "write it as in " + name + "=" + example
	}
	return hint
}

// periodHintFor says how to write the period of a rate, of which the count is fine.
func periodHintFor(words []string) string {
	if hint := rateHintFor(words); hint != rateHint {
		return hint
	}
	return "use us, ms, s, m, h, d, w or mo, as in 5/10s"
}
