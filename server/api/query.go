package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// queryOf reads the query, in which only these names may stand, each once.
func queryOf(r *http.Request, names ...string) (url.Values, *Problem) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem(http.StatusBadRequest, "invalid-query", "the query cannot be read: "+err.Error(), "escape it as in URLs")
	}
	for name, given := range values {
		if !slices.Contains(names, name) {
			hint := "this endpoint takes no query"
			if len(names) > 0 {
				hint = "the query may hold " + strings.Join(names, ", ")
			}
			return nil, at(name, "is not known", hint)
		}
		if len(given) > 1 {
			return nil, at(name, "stands there twice", "give it once")
		}
	}
	return values, nil
}

// number reads how many are asked for; fallback if it is not said.
func number(values url.Values, name string, fallback, most int) (int, *Problem) {
	text := values.Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, at(name, fmt.Sprintf("%.40q is no number from 1 to %d", text, most), "")
	}
	return n, nil
}
