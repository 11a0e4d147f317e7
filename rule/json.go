package rule

import (
	"bytes"
	"encoding/json"
	"errors"
)

// The plain types are read and written by their fields.
type (
	limitFields Limit
	costFields  Cost
)

// UnmarshalJSON reads the limit's text alone, or an object.
func (l *Limit) UnmarshalJSON(data []byte) error {
	if isObject(data) {
		return strictly(data, (*limitFields)(l))
	}
	*l = Limit{}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New(`a limit is a text such as "100/s", or an object with a limit in it`)
	}
	return l.Limit.UnmarshalText([]byte(text))
}

// MarshalJSON writes the text alone if there is nothing else to say.
func (l Limit) MarshalJSON() ([]byte, error) {
	if l.Name == "" && l.Scope == "" {
		return json.Marshal(l.Limit)
	}
	return json.Marshal(limitFields(l))
}

// UnmarshalJSON reads a plain number, or an object.
func (c *Cost) UnmarshalJSON(data []byte) error {
	if isObject(data) {
		return strictly(data, (*costFields)(c))
	}
	*c = Cost{}
	if err := json.Unmarshal(data, &c.Fixed); err != nil {
		return errors.New("a cost is a whole number, or an object with fixed, methods, bytes, header, max or response")
	}
	if c.Fixed == 0 {
		return errors.New("a cost of 0 spends nothing: give 1 or more, or leave it out for 1")
	}
	return nil
}

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
		return errors.New(`a key is a text, or a list with a text for each of its parts`)
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
