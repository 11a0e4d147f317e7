package rule

import (
	"net/http"
	"strings"
)

// valuer is a Getter that knows more than the first value of a name, as http.Header
// and textproto.MIMEHeader do.
type valuer interface{ Values(name string) []string }

// Cookie returns the value of a cookie, without quotes, or "": the first that is well
// formed, of all Cookie lines. That is what (*http.Request).Cookie gives to handlers,
// so that nobody is counted under another value than the one that is served.
func (r *Request) Cookie(name string) string {
	switch header := r.Header.(type) {
	case nil:
		return ""
	case http.Header:
		return cookieOf(header["Cookie"], name)
	case valuer:
		return cookieOf(header.Values("Cookie"), name)
	}
	value, _ := cookieIn(r.Header.Get("Cookie"), name)
	return value
}

func cookieOf(lines []string, name string) string {
	for _, line := range lines {
		if value, ok := cookieIn(line, name); ok {
			return value
		}
	}
	return ""
}

// cookieIn looks for a cookie in one line. Those that are not well formed are passed
// over.
func cookieIn(line, name string) (value string, ok bool) {
	const blanks = " \t\r\n"
	for line != "" {
		var pair string
		pair, line, _ = strings.Cut(line, ";")
		key, value, _ := strings.Cut(strings.Trim(pair, blanks), "=")
		if strings.TrimRight(key, blanks) != name {
			continue
		}
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		if isCookieValue(value) {
			return value, true
		}
	}
	return "", false
}

// isCookieValue reports whether a value is one that servers take.
func isCookieValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= 0x7f || c == '"' || c == ';' || c == '\\' {
			return false
		}
	}
	return true
}
