package accesslog

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// stampCache reads stamps, and remembers the last day, which most lines share.
type stampCache struct {
	day   string // "20/Feb/2016" or "2016-02-20"
	zone  string // "-0500"
	start int64  // of that day in that zone, seconds since 1970
}

// common reads 20/Feb/2016:00:00:45 -0500, also with a fraction or without a zone, as
// microseconds since 1970. coarse tells one without a fraction.
func (c *stampCache) common(text string, zone *time.Location) (at int64, coarse, ok bool) {
	if len(text) < 20 || text[11] != ':' {
		return 0, false, false
	}
	return c.stamp(text[:11], text[12:20], text[20:], commonDay, zone)
}

// stamp puts the parts of a stamp together. The rest is a fraction and an offset.
func (c *stampCache) stamp(day, clock, rest string, dayOf func(string) (int64, bool), zone *time.Location) (at int64, coarse, ok bool) {
	fraction, offset, ok := fractionOf(rest)
	if !ok {
		return 0, false, false
	}
	if day != c.day || offset != c.zone {
		start, ok := dayOf(day)
		if !ok {
			return 0, false, false
		}
		east, ok := zoneOffset(offset)
		if !ok {
			return 0, false, false
		}
		c.day, c.zone, c.start = strings.Clone(day), strings.Clone(offset), start-east
	}
	seconds, ok := clockTime(clock)
	if !ok {
		return 0, false, false
	}
	seconds += c.start
	if offset == "" && zone != nil {
		seconds = inZone(seconds, zone)
	}
	return seconds*1e6 + max(fraction, 0), fraction < 0, seconds >= 0
}

// clockTime reads 00:00:45 as seconds. A leap second is the second before it.
func clockTime(t string) (int64, bool) {
	_ = t[7]
	h1, h2, m1, m2, s1, s2 := t[0]-'0', t[1]-'0', t[3]-'0', t[4]-'0', t[6]-'0', t[7]-'0'
	if h1 > 2 || h2 > 9 || m1 > 5 || m2 > 9 || s1 > 6 || s2 > 9 || t[2] != ':' || t[5] != ':' {
		return 0, false
	}
	h, m, s := int64(h1)*10+int64(h2), int64(m1)*10+int64(m2), int64(s1)*10+int64(s2)
	if s == 60 {
		s = 59
	}
	return h*3600 + m*60 + s, h < 24 && s < 60
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// commonDay reads 20/Feb/2016 as the seconds of its midnight in UTC.
func commonDay(t string) (int64, bool) {
	if t[2] != '/' || t[6] != '/' {
		return 0, false
	}
	month := strings.Index(months, t[3:6])
	if month < 0 || month%3 != 0 {
		return 0, false
	}
	day, ok1 := number(t[:2])
	year, ok2 := number(t[7:11])
	return midnight(year, int64(month/3+1), day, ok1 && ok2)
}

// isoDay reads 2016-02-20.
func isoDay(t string) (int64, bool) {
	if len(t) != 10 || t[4] != '-' || t[7] != '-' {
		return 0, false
	}
	year, ok1 := number(t[:4])
	month, ok2 := number(t[5:7])
	day, ok3 := number(t[8:])
	return midnight(year, month, day, ok1 && ok2 && ok3)
}

func midnight(year, month, day int64, ok bool) (int64, bool) {
	if !ok || year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	t := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	return t.Unix(), int64(t.Day()) == day
}

// zoneOffset reads " -0500", "+01:00", "Z" or nothing, as seconds east of Greenwich.
func zoneOffset(text string) (int64, bool) {
	text = strings.TrimPrefix(text, " ")
	if text == "" || text == "Z" || text == "z" {
		return 0, true
	}
	if len(text) == 6 && text[3] == ':' {
		return zoneSeconds(text[0], text[1:3], text[4:])
	}
	if len(text) == 5 {
		return zoneSeconds(text[0], text[1:3], text[3:])
	}
	return 0, false
}

func zoneSeconds(sign byte, hours, minutes string) (int64, bool) {
	h, ok1 := number(hours)
	m, ok2 := number(minutes)
	seconds := h*3600 + m*60
	if !ok1 || !ok2 || h > 15 || m > 59 || sign != '+' && sign != '-' {
		return 0, false
	}
	if sign == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// any reads a stamp of any kind that logs have: of RFC 3339 or ISO 8601 with any
// fraction, with or without a zone; of the common format; a Unix time in s, ms, µs
// or ns. coarse tells one without a fraction.
func (c *stampCache) any(text string, zone *time.Location) (at int64, coarse, ok bool) {
	if len(text) >= 19 && text[4] == '-' {
		return c.iso(text, zone)
	}
	if len(text) >= 20 && text[2] == '/' {
		return c.common(text, zone)
	}
	return unixTime(text)
}

// iso reads 2016-02-20T00:00:45.123-05:00 and its relatives.
func (c *stampCache) iso(text string, zone *time.Location) (at int64, coarse, ok bool) {
	if text[10] != 'T' && text[10] != ' ' && text[10] != 't' {
		return 0, false, false
	}
	return c.stamp(text[:10], text[11:19], text[19:], isoDay, zone)
}

// inZone takes the seconds of a local time as if in UTC, and returns them as they are.
// Of a time that comes twice it takes the first.
func inZone(seconds int64, zone *time.Location) int64 {
	t := time.Unix(seconds, 0).UTC()
	there := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)
	for _, step := range []time.Duration{time.Hour, 30 * time.Minute} {
		if before := there.Add(-step); before.Hour() == there.Hour() && before.Minute() == there.Minute() {
			return before.Unix()
		}
	}
	return there.Unix()
}

// fractionOf reads .123456 in microseconds, and returns what stands after it. Without a
// fraction it is -1.
func fractionOf(text string) (micros int64, rest string, ok bool) {
	if text == "" || text[0] != '.' && text[0] != ',' {
		return -1, text, true
	}
	scale, i := int64(100_000), 1
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		micros += int64(text[i]-'0') * scale
		scale /= 10
	}
	return micros, text[i:], i > 1
}

// unixTime reads a number of seconds, or of ms, µs or ns, which its size tells.
func unixTime(text string) (at int64, coarse, ok bool) {
	whole, _, point := strings.Cut(text, ".")
	if !point && strings.IndexByte(text, 'e') < 0 {
		n, ok := number(text)
		switch {
		case !ok || n <= 0 || text == "-":
			return unixNano(text)
		case n < 1e11:
			return n * 1e6, true, true
		case n < 1e14:
			return n * 1e3, false, true
		case n < 1e17:
			return n, false, true
		}
		return n / 1e3, false, true
	}
	if n, ok := number(whole); ok && point && n > 0 && n < 1e11 { // exactly
		micros, rest, ok := fractionOf(text[len(whole):])
		if ok && rest == "" {
			return n*1e6 + micros, false, true
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f >= 1e18 {
		return 0, false, false
	}
	for f >= 1e11 {
		f /= 1e3
	}
	return int64(math.Round(f * 1e6)), false, true
}

// unixNano reads the nineteen digits of a time in nanoseconds.
func unixNano(text string) (at int64, coarse, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) != 19 || n <= 0 {
		return 0, false, false
	}
	return n / 1e3, false, true
}
