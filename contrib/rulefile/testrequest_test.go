package rulefile

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseRequest(t *testing.T) {
	got, err := ParseRequest(`POST /a?b=1 user="ann lee" header:X-Key=1 cookie:sid=2 attribute:plan=free length=-1 cost=3`)
	want := TestRequest{
		Method: "POST", Path: "/a?b=1", User: "ann lee", Length: -1, Cost: 3,
		Headers: map[string]string{"X-Key": "1"}, Cookies: map[string]string{"sid": "2"}, Attributes: map[string]string{"plan": "free"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The place of what is wrong counts characters, from 1.
func TestParseRequestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"GET / usr=ann":          `character 7: a request has no "usr": did you mean "user"?`,
		"GET /größe ip=x":        `character 12: ip cannot be "x"`,
		`GET / user=ann host="x`: "character 16: a quote is not closed",
		"GET / /again":           `character 7: "/again" is neither a path nor name=value`,
		"GET / length=long":      `character 7: length cannot be "long"`,
		`"`:                      "character 1: a quote is not closed",
	} {
		if _, err := ParseRequest(text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
