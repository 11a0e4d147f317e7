package rulefile

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// scalar fills texts, numbers and booleans. None turns into another in silence.
func (d *decoder) scalar(n *node, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		d.text(n, v, path)
	case reflect.Bool:
		if n.kind != boolKind {
			d.wrongKind(n, path, "true or false", "")
			return
		}
		v.SetBool(n.text == "true")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, ok := n.integer()
		if n.kind != numberKind {
			d.wrongKind(n, path, "a whole number", unquoteHint(n))
		} else if !ok || v.OverflowInt(i) {
			d.fail(n, path, fmt.Sprintf("%s is not a whole number in range", n.text), "")
		} else {
			v.SetInt(i)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		i, ok := n.integer()
		if n.kind != numberKind {
			d.wrongKind(n, path, "a whole number", unquoteHint(n))
		} else if !ok || i < 0 || v.OverflowUint(uint64(i)) {
			d.fail(n, path, fmt.Sprintf("%s is not a whole number in range", n.text), "")
		} else {
			v.SetUint(uint64(i))
		}
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64)
		if n.kind != numberKind || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			d.wrongKind(n, path, "a number", unquoteHint(n))
			return
		}
		v.SetFloat(f)
	default:
		d.fail(n, path, "a value of type "+v.Type().String()+" cannot be read from a file", "")
	}
}

// text fills strings; one of a closed set has to be in it.
func (d *decoder) text(n *node, v reflect.Value, path string) {
	names, closed := enums[v.Type()]
	if n.kind != textKind {
		hint := quoteHint(n)
		switch {
		case closed:
			hint = "use " + oneOf(names)
		case path == "rollout" && n.kind == numberKind:
			hint = shareHint(n)
		}
		d.wrongKind(n, path, "text", hint)
		return
	}
	if closed {
		for _, name := range names {
			if n.text == name {
				v.SetString(name)
				return
			}
		}
		d.fail(n, path, fmt.Sprintf("%s cannot be %q", nameOf(path), n.text), suggest(n.text, names))
		return
	}
	v.SetString(n.text)
}

// integer reads 10, 1_000, 0x10 and 1e6.
func (n *node) integer() (int64, bool) {
	text := strings.ReplaceAll(n.text, "_", "")
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1e15 {
		return 0, false
	}
	return int64(f), true
}
