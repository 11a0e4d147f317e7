package config

import (
	"reflect"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// gatewaySchema is that of the section "gateway": of its Go types.
func gatewaySchema() object {
	o := schemaOf(reflect.TypeFor[Gateway]())
	o["description"] = "a reverse proxy that asks the rules first: docs/GATEWAY.md tells of each field"
	return o
}

func schemaOf(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[Size]():
		return object{"type": "string", "pattern": sizePattern()}
	case reflect.TypeFor[rule.Duration]():
		return object{"type": "string", "pattern": durationPattern}
	case reflect.TypeFor[sluice.Limit]():
		return object{"type": "string"}
	case reflect.TypeFor[Networks]():
		return object{"type": "array", "items": object{"type": "string"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Struct:
		o := newGroup()
		for i := range t.NumField() {
			f := t.Field(i)
			o["properties"].(object)[f.Tag.Get("json")] = schemaOf(f.Type)
		}
		return o
	}
	return object{"type": "string"}
}
