package config

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes that reads and writes text with a unit: 64KiB, 256MiB, 1GB.
type Size int64

// units are the known ones. The first that divides a size is used to write it.
var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
}

// ParseSize reads a size with its unit.
func ParseSize(text string) (Size, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		number = strings.TrimSpace(number)
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/u.bytes {
			return Size(n * u.bytes), nil
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 || n*float64(u.bytes) >= math.MaxInt64 || n != n {
			break
		}
		return Size(n * float64(u.bytes)), nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, fmt.Errorf("the size %s has no unit: write %sMiB or %sKiB", text, text, text)
	}
	return 0, fmt.Errorf("%q is no size: write 64KiB, 256MiB or 1GiB", text)
}

// String returns it as text that ParseSize reads.
func (s Size) String() string {
	for _, u := range units {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// MarshalText writes it with its unit.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a size with its unit.
func (s *Size) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSize(string(text))
	return err
}

// UnmarshalJSON reads text with a unit. A bare number is refused, since nobody can tell
// what it counts.
func (s *Size) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		text = string(data)
	}
	return s.UnmarshalText([]byte(text))
}
