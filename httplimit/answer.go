package httplimit

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// holdOf returns for how long a server asks not to be called, 0 if it does not. now is
// the time for dates, if the answer does not tell its own.
func holdOf(res *http.Response, now time.Time) time.Duration {
	hold := time.Duration(0)
	if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable {
		if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
			now = date // its clock, by which it also says when to come back
		}
		hold = parseRetryAfter(res.Header.Get("Retry-After"), now)
	}
	if res.Header.Get("Age") != "" {
		return hold // from a cache: what it says of limits is over
	}
	for _, line := range res.Header[fieldRateLimit] {
		hold = max(hold, parseRateLimit(line))
	}
	if left, ok := parseSeconds(res.Header.Get("RateLimit-Remaining")); ok && left == 0 { // drafts 03 to 06
		if reset, ok := parseSeconds(res.Header.Get("RateLimit-Reset")); ok {
			hold = max(hold, reset)
		}
	}
	return hold
}

// parseRetryAfter reads seconds or a date, and returns 0 for anything else.
func parseRetryAfter(text string, now time.Time) time.Duration {
	text = strings.Trim(text, " \t")
	if n, ok := parseSeconds(text); ok {
		return n
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// parseSeconds reads a number of seconds. One that is absurdly large is a large one.
func parseSeconds(text string) (time.Duration, bool) {
	const most = 100 * 365 * 24 * 60 * 60
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > most {
		n = most
	}
	return time.Duration(n) * time.Second, true
}

// parseRateLimit returns the longest time after which a limit that is used up has more:
// "default";r=0;t=30, or a and w as later drafts call them. A list that is not well
// formed says nothing, as the draft demands. Draft 07 has no list, but limit=10,
// remaining=0, reset=30.
func parseRateLimit(line string) time.Duration {
	if !strings.Contains(line, `"`) {
		return parseMembers(line)
	}
	longest := time.Duration(0)
	for more := true; more; {
		var item string
		item, line, more = cutOutsideQuotes(line, ',')
		hold, ok := parseItem(strings.Trim(item, " \t"))
		if !ok {
			return 0
		}
		longest = max(longest, hold)
	}
	return longest
}

// parseMembers reads what draft 07 says of one limit.
func parseMembers(line string) time.Duration {
	left, reset := time.Duration(-1), time.Duration(-1)
	for member := range strings.SplitSeq(line, ",") {
		key, value, _ := strings.Cut(strings.Trim(member, " \t"), "=")
		value, _, _ = strings.Cut(value, ";") // parameters say nothing to us
		n, ok := parseSeconds(value)
		switch {
		case key == "remaining" && ok:
			left = n
		case key == "reset" && ok:
			reset = n
		case key == "remaining", key == "reset":
			return 0
		}
	}
	if left != 0 {
		return 0
	}
	return max(0, reset)
}

// parseItem reads one member of the list: a name with parameters.
func parseItem(item string) (hold time.Duration, ok bool) {
	name, params, more := cutOutsideQuotes(item, ';')
	if len(name) < 2 || name[0] != '"' || name[len(name)-1] != '"' {
		return 0, false
	}
	left, usedUp := time.Duration(-1), false
	for more {
		var param string
		param, params, more = cutOutsideQuotes(params, ';')
		key, value, _ := strings.Cut(strings.Trim(param, " "), "=")
		switch key {
		case "r", "a":
			n, ok := parseSeconds(value)
			if !ok {
				return 0, false
			}
			usedUp = n == 0
		case "t", "w":
			if left, ok = parseSeconds(value); !ok {
				return 0, false
			}
		}
	}
	if !usedUp || left < 0 {
		return 0, true
	}
	return left, true
}

// cutOutsideQuotes is strings.Cut for a separator that is in no quoted string.
func cutOutsideQuotes(s string, c byte) (before, after string, found bool) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == c && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}
