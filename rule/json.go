package rule

import (
	"bytes"
	"encoding/json"

	"github.com/sluice-limiter/sluice"
)

// The plain types are read and written by their fields.
type (
	limitFields struct {
		Name  string    `json:"name,omitempty"`
		Limit limitText `json:"limit"`
		Scope Scope     `json:"scope,omitempty"`
	}
	costFields Cost
)

// limitText is a limit that ParseLimit reads.
type limitText sluice.Limit

func (t *limitText) UnmarshalText(text []byte) error {
	l, err := ParseLimit(string(text))
	if err == nil {
		*t = limitText(l)
	}
	return err
}

func (t limitText) MarshalText() ([]byte, error) {
	l := sluice.Limit(t)
	if err := validateLimit(l); err != nil {
		return nil, err
	}
	return []byte(l.String()), nil
}

// readError says what is wrong with a value, and what to write instead.
type readError struct{ reason, hint string }

func (e *readError) Error() string { return e.reason + ": " + e.hint }

// UnmarshalJSON reads the limit's text alone, or an object.
func (l *Limit) UnmarshalJSON(data []byte) error {
	if isObject(data) {
		var fields limitFields
		err := strictly(data, &fields)
		*l = Limit{fields.Name, sluice.Limit(fields.Limit), fields.Scope}
		return err
	}
	*l = Limit{}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		if number := string(data); json.Unmarshal(data, new(float64)) == nil {
			return &readError{clip(number) + " has no unit", "say per what: \"" + clip(number) + "/s\""}
		}
		return &readError{"a limit is a text or an object", `write "100/s", or an object with a limit in it`}
	}
	return (*limitText)(&l.Limit).UnmarshalText([]byte(text))
}

// MarshalJSON writes the text alone if there is nothing else to say.
func (l Limit) MarshalJSON() ([]byte, error) {
	if l.Name == "" && l.Scope == "" {
		return json.Marshal(limitText(l.Limit))
	}
	return json.Marshal(limitFields{l.Name, limitText(l.Limit), l.Scope})
}

// UnmarshalJSON reads a plain number, or an object.
func (c *Cost) UnmarshalJSON(data []byte) error {
	if isObject(data) {
		if err := strictly(data, (*costFields)(c)); err != nil {
			return err
		}
		var written struct {
			Fixed *int64 `json:"fixed"`
		}
		if err := json.Unmarshal(data, &written); err != nil || written.Fixed != nil && *written.Fixed == 0 {
			return &errNoCost
		}
		return nil
	}
	*c = Cost{}
	if err := json.Unmarshal(data, &c.Fixed); err != nil {
		return &readError{"a cost is a whole number or an object", "write 2, or an object with fixed, methods, bytes, header, max or response"}
	}
	if c.Fixed == 0 {
		return &errNoCost
	}
	return nil
}

// errNoCost is about a cost that is written as 0.
var errNoCost = readError{"a cost of 0 spends nothing", "give 1 or more, or leave it out for 1"}

// MarshalJSON writes a constant as a plain number.
func (c Cost) MarshalJSON() ([]byte, error) {
	if c.Fixed != 0 && c.Methods == nil && c.Bytes == 0 && c.Header == "" && c.Max == 0 && c.Response == "" {
		return json.Marshal(c.Fixed)
	}
	return json.Marshal(costFields(c))
}

// UnmarshalJSON reads plain text for a key of one part, or a list.
func (k *KeyValues) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil && string(bytes.TrimSpace(data)) != "null" {
		*k = KeyValues{one}
		return nil
	}
	if err := json.Unmarshal(data, (*[]string)(k)); err != nil || *k == nil {
		return &readError{"a key is a text or a list", `write "ann", or ["ann", "GET"] with a text for each part of the key`}
	}
	return nil
}

// MarshalJSON writes a key of one part as plain text.
func (k KeyValues) MarshalJSON() ([]byte, error) {
	if len(k) == 1 {
		return json.Marshal(k[0])
	}
	return json.Marshal([]string(k))
}

func isObject(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }

// strictly reads an object that may have known fields only.
func strictly(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(to)
}
