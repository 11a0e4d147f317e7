package envoy

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
)

// Unit is the time that a limit is for.
type Unit uint8

// Units. The zero Unit is none.
const (
	Second Unit = iota + 1
	Minute
	Hour
	Day
	Week
	Month
	Year
)

// unitNames are the units in the file, and how those of the calendar are written in a
// sluice.Limit.
var unitNames = [...]struct{ name, calendar string }{
	Second: {name: "second"},
	Minute: {name: "minute"},
	Hour:   {name: "hour"},
	Day:    {"day", "d"},
	Week:   {"week", "w"},
	Month:  {"month", "mo"},
	Year:   {"year", "y"},
}

// ParseUnit reads the name of a unit, in upper or lower case; 0 if it is none.
func ParseUnit(name string) Unit {
	for u := Second; u <= Year; u++ {
		if strings.EqualFold(name, unitNames[u].name) {
			return u
		}
	}
	return 0
}

// String returns the name of the unit.
func (u Unit) String() string { return unitNames[u].name }

// Limit returns a limit of so many per so many units, counted by the algorithm: a name
// and perhaps options, as sluice.Parse reads them; empty means a window of the calendar
// of the zone. Other algorithms, and several units, know no calendar: a month has 30
// days for them, and a year 365.
func Limit(count uint32, unit Unit, multiplier uint32, algorithm, zone string) (sluice.Limit, error) {
	if unit < Second || unit > Year {
		return sluice.Limit{}, fmt.Errorf("%d is no unit", unit)
	}
	name, options, _ := strings.Cut(strings.TrimSpace(algorithm), " ")
	if name == "" {
		name = string(sluice.FixedWindow)
	}
	length, err := unit.times(max(1, multiplier))
	if err != nil {
		return sluice.Limit{}, err
	}
	per := unitNames[unit].calendar
	if per == "" || name != string(sluice.FixedWindow) || multiplier > 1 || strings.Contains(options, "start=") {
		return sluice.Parse(strings.TrimSpace(name + " " + sluice.Per(int64(count), length).String() + " " + options))
	}
	if zone == "" && unit == Week { // whose day without a zone is Thursday
		zone = "UTC"
	}
	if zone != "" && !strings.Contains(options, "zone=") {
		options += " zone=" + zone
	}
	return sluice.Parse(strings.TrimSpace(fmt.Sprintf("%s %d/%s %s", name, count, per, options)))
}

// lengths of units that are counted by several of them.
var lengths = [...]time.Duration{
	Second: time.Second, Minute: time.Minute, Hour: time.Hour, Day: 24 * time.Hour,
	Week: 7 * 24 * time.Hour, Month: 30 * 24 * time.Hour, Year: 365 * 24 * time.Hour,
}

// times returns how long several units are.
func (u Unit) times(n uint32) (time.Duration, error) {
	if time.Duration(n) > math.MaxInt64/lengths[u] {
		return 0, fmt.Errorf("%d × %s is too long", n, u)
	}
	return time.Duration(n) * lengths[u], nil
}

// UnitOf returns a period as so many units, the longest that fit; 0 if it is shorter than
// a second or no whole number of them.
func UnitOf(l sluice.Limit) (unit Unit, multiplier uint32) {
	if u := ParseUnit(string(l.Calendar)); u != 0 { // both call them the same
		return u, 1
	}
	for u := Year; u >= Second; u-- {
		if n := l.Period / lengths[u]; u != Month && n > 0 && l.Period%lengths[u] == 0 && n <= math.MaxUint32 {
			return u, uint32(n)
		}
	}
	return 0, 0
}
