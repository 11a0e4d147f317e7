package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sluice-limiter/sluice/contrib/rulefile"
	"github.com/sluice-limiter/sluice/rule"
)

// object is one of JSON.
type object = map[string]any

// Schema returns the JSON schema of a file with rules and settings, for editors: that of
// package rulefile, with the table of settings below "server". It stands also beside this
// file, as sluice.schema.json. It covers what a schema can; Load finds more.
func Schema() ([]byte, error) {
	var schema struct {
		Schema     string `json:"$schema"`
		Title      string `json:"title"`
		Type       string `json:"type"`
		Properties object `json:"properties"`
		Additional any    `json:"additionalProperties"`
		Defs       object `json:"$defs"`
	}
	if err := json.Unmarshal(rulefile.Schema(), &schema); err != nil {
		return nil, fmt.Errorf("config: the schema of rule files: %w", err)
	}
	schema.Title = "sluice rules and settings"
	section := newGroup()
	section["description"] = "settings of the server: docs/SERVER.md tells of each"
	for i := range settings {
		s := &settings[i]
		place(section, s.Name)[lastPart(s.Name)] = s.schema()
	}
	schema.Properties[Section] = section
	schema.Properties[GatewaySection] = gatewaySchema()
	data, err := json.MarshalIndent(schema, "", "  ")
	return append(data, '\n'), err
}

// newGroup returns the schema of settings that stand together.
func newGroup() object {
	return object{"type": "object", "properties": object{}, "additionalProperties": false}
}

// place returns the properties among which a setting stands, and makes them on the way.
func place(section object, name string) object {
	here := section["properties"].(object)
	parts := strings.Split(name, ".")
	for _, part := range parts[:len(parts)-1] {
		if here[part] == nil {
			here[part] = newGroup()
		}
		here = here[part].(object)["properties"].(object)
	}
	return here
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// schema is that of one setting.
func (s *Setting) schema() object {
	o := object{"description": s.Help, "type": "string"}
	c := Defaults()
	switch v := s.field(&c).(type) {
	case *string:
		if *v != "" {
			o["default"] = *v
		}
	case *bool:
		o["type"], o["default"] = "boolean", *v
	case *int:
		o["type"], o["default"] = "integer", *v
	case *float64:
		o["type"], o["default"] = "number", *v
	case *Size:
		o["pattern"], o["default"] = sizePattern(), s.Default()
	case *rule.Duration:
		o["pattern"], o["default"] = durationPattern, s.Default()
	default: // a list of texts
		o["type"], o["items"], o["default"] = "array", object{"type": "string"}, v
	}
	if s.values != nil {
		o["enum"] = s.values
	}
	return o
}

// durationPattern is a number with a unit, or several.
const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`

// sizePattern is a number with one of the units.
func sizePattern() string {
	names := make([]string, len(units))
	for i, u := range units {
		names[i] = u.name
	}
	return `^[0-9]+(\.[0-9]+)? *(` + strings.Join(names, "|") + `)$`
}
