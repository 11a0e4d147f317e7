package algotest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of durations, in µs, longest name first where one begins another.
var units = []struct {
	name string
	size int64
}{
	{"ms", 1e3},
	{"us", 1},
	{"s", 1e6},
	{"m", 60e6},
	{"h", 3600e6},
	{"d", 86400e6},
	{"y", 365 * 86400e6},
}

// maxDuration keeps sums of durations far from overflow.
const maxDuration = 1 << 60

// parseDuration reads a duration in µs: 1.5s, 1m30s, 1s-1us, -1h.
func parseDuration(text string) (int64, error) {
	sum, sign, rest := int64(0), int64(1), text
	if after, ok := strings.CutPrefix(rest, "-"); ok {
		sign, rest = -1, after
	}
	for first := true; first || rest != ""; first = false {
		if !first && (rest[0] == '+' || rest[0] == '-') {
			sign = map[byte]int64{'+': 1, '-': -1}[rest[0]]
			rest = rest[1:]
		}
		term, after, ok := parseTerm(rest)
		if !ok || sum > maxDuration || sum < -maxDuration {
			return 0, fmt.Errorf("%q: expected a duration such as 1.5s, 99us, 1m30s or 1s-1us", text)
		}
		sum, rest = sum+sign*term, after
	}
	return sum, nil
}

// parseTerm reads one number with its unit. It must be whole µs.
func parseTerm(text string) (term int64, rest string, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 1 {
		return 0, "", false
	}
	whole, part, _ := strings.Cut(text[:end], ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	for _, u := range units {
		rest, ok = strings.CutPrefix(text[end:], u.name)
		if !ok {
			continue
		}
		if err != nil || n > maxDuration/u.size {
			return 0, "", false
		}
		term = n * u.size
		size := u.size
		for _, digit := range part {
			if digit == '.' || size%10 != 0 {
				return 0, "", false
			}
			size /= 10
			term += int64(digit-'0') * size
		}
		return term, rest, true
	}
	return 0, "", false
}

// formatDuration writes µs as people do: whole days, hours, minutes or seconds
// if it is that, else a decimal of the largest unit up to seconds.
func formatDuration(us int64) string {
	if us < 0 {
		return "-" + formatDuration(-us)
	}
	for _, u := range []int{5, 4, 3} {
		if us >= units[u].size && us%units[u].size == 0 {
			return strconv.FormatInt(us/units[u].size, 10) + units[u].name
		}
	}
	for _, u := range []int{2, 0} {
		if size := units[u].size; us >= size || us == 0 {
			text := fmt.Sprintf("%d.%0*d", us/size, len(strconv.FormatInt(size, 10))-1, us%size)
			return strings.TrimRight(strings.TrimRight(text, "0"), ".") + units[u].name
		}
	}
	return strconv.FormatInt(us, 10) + "us"
}

// parseCount reads a whole number, perhaps as 1e6.
func parseCount(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > 1e18 || f != math.Trunc(f) {
		return 0, fmt.Errorf("%q: expected a whole number such as 10 or 1e6", text)
	}
	return int64(f), nil
}
