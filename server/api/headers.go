package api

import "strings"

// header is one header field of a request that is asked about.
type header struct{ name, value string }

// headers finds fields by name, whatever the case. There are few of them, so that
// looking at all is quicker than a map.
type headers []header

// Get returns the value of a name, or "".
func (h *headers) Get(name string) string {
	for i := range *h {
		if field := &(*h)[i]; len(field.name) == len(name) && strings.EqualFold(field.name, name) {
			return field.value
		}
	}
	return ""
}

// twice returns a name that occurs more than once.
func (h headers) twice() string {
	for i := range h {
		for j := range h[:i] {
			if len(h[i].name) == len(h[j].name) && strings.EqualFold(h[i].name, h[j].name) {
				return h[i].name
			}
		}
	}
	return ""
}
