package rulefile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/rule"
)

// enums are the texts of which a field takes one.
var enums = map[reflect.Type][]string{
	reflect.TypeFor[rule.Default]():      {string(rule.Allow), string(rule.Deny)},
	reflect.TypeFor[rule.Scope]():        {string(rule.Cluster), string(rule.Instance), string(rule.Split)},
	reflect.TypeFor[rule.Mode]():         {string(rule.Enforce), string(rule.Shadow), string(rule.Off)},
	reflect.TypeFor[rule.Missing]():      {string(rule.MissingSkip), string(rule.MissingShared), string(rule.MissingDeny)},
	reflect.TypeFor[rule.OnStoreError](): {string(rule.ErrorLocal), string(rule.ErrorAllow), string(rule.ErrorDeny)},
	reflect.TypeFor[rule.Headers](): {
		string(rule.HeadersDraft10), string(rule.HeadersDraft11), string(rule.HeadersDraft07),
		string(rule.HeadersDraft06), string(rule.HeadersLegacy), string(rule.HeadersNone),
	},
	reflect.TypeFor[Expect](): {string(ExpectAllow), string(ExpectDeny)},
}

// specials are types that may be written in more than one way.
var specials map[reflect.Type]func(d *decoder, n *node, v reflect.Value, path string)

func init() { // not where it is declared: the functions use the decoder, and that the map
	specials = map[reflect.Type]func(*decoder, *node, reflect.Value, string){
		reflect.TypeFor[sluice.Limit]():   limitText,
		reflect.TypeFor[rule.Limit]():     limitOrText,
		reflect.TypeFor[rule.Cost]():      costOrNumber,
		reflect.TypeFor[rule.KeyValues](): keyValues,
		reflect.TypeFor[rule.Duration]():  duration,
		reflect.TypeFor[time.Duration]():  duration,
		reflect.TypeFor[TestRequest]():    testRequest,
	}
}

// limitText reads a limit such as "100/s burst=200".
func limitText(d *decoder, n *node, v reflect.Value, path string) {
	switch n.kind {
	case numberKind:
		d.fail(n, path, fmt.Sprintf("the limit %s has no unit", n.text), fmt.Sprintf("say per what: %s/s, %s/m or %s/h", n.text, n.text, n.text))
		return
	case textKind:
	default:
		d.wrongKind(n, path, "a limit as text", `write "100/s"`)
		return
	}
	limit, err := rule.ParseLimit(n.text)
	if err == nil {
		v.Set(reflect.ValueOf(limit))
		return
	}
	var wrong *sluice.LimitError
	if !errors.As(err, &wrong) {
		d.fail(n, path, err.Error(), "")
		return
	}
	at := *n
	if i := strings.Index(n.text, wrong.Field+"="); wrong.Field != "" && i >= 0 {
		at.line, at.column = n.within(0, i)
	}
	d.fail(&at, path, fmt.Sprintf("the limit %q is wrong: %s: %s", n.text, wrong.Field, wrong.Reason), wrong.Hint)
}

// limitOrText reads a limit of a rule: its text, or a map with name and scope.
func limitOrText(d *decoder, n *node, v reflect.Value, path string) {
	if n.kind != mapKind {
		limitText(d, n, v.FieldByName("Limit"), path)
		return
	}
	before := len(d.problems)
	d.structure(n, v, path)
	if n.get("limit") == nil && len(d.problems) == before { // else that is why
		d.fail(n, join(path, "limit"), `a limit needs the field "limit"`, "limit: 100/s")
	}
}

// costOrNumber reads a constant cost, or a map.
func costOrNumber(d *decoder, n *node, v reflect.Value, path string) {
	if n.kind == numberKind {
		d.scalar(n, v.FieldByName("Fixed"), path)
		return
	}
	if n.kind != mapKind {
		d.wrongKind(n, path, "a number or a map", "")
		return
	}
	d.structure(n, v, path)
}

// keyValues reads the values of a key: one text, or a list.
func keyValues(d *decoder, n *node, v reflect.Value, path string) {
	if n.kind == listKind {
		d.list(n, v, path)
		return
	}
	var one string
	d.text(n, reflect.ValueOf(&one).Elem(), path)
	v.Set(reflect.ValueOf(rule.KeyValues{one}))
}

// duration reads a time with its unit.
func duration(d *decoder, n *node, v reflect.Value, path string) {
	switch n.kind {
	case numberKind:
		d.fail(n, path, fmt.Sprintf("the duration %s has no unit", n.text), fmt.Sprintf("write %ss, %sms or %sm", n.text, n.text, n.text))
		return
	case textKind:
	default:
		d.wrongKind(n, path, "a duration", "write 500ms, 2s or 1m30s")
		return
	}
	t, err := time.ParseDuration(n.text)
	if err != nil {
		d.fail(n, path, fmt.Sprintf("%q is no duration", n.text), "write 500ms, 2s or 1m30s")
		return
	}
	v.SetInt(int64(t))
}
