package rule

import (
	"encoding/json"
	"strconv"
	"time"
)

// Duration is a time.Duration that reads and writes text with a unit: 500ms, 2s, 1m30s.
type Duration time.Duration

// String returns it as text that UnmarshalText reads.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes it with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a time with a unit.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		written := clip(string(text))
		if _, bare := strconv.ParseFloat(written, 64); bare == nil {
			return &readError{strconv.Quote(written) + " has no unit", "write " + written + "s for seconds or " + written + "ms for milliseconds"}
		}
		return &readError{strconv.Quote(written) + " is no time", "write it with a unit, as in 500ms, 2s or 1m30s"}
	}
	*d = Duration(parsed)
	return nil
}

// UnmarshalJSON reads text with a unit. A bare number is refused, since nobody can
// tell what it counts.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		text = string(data)
	}
	return d.UnmarshalText([]byte(text))
}
