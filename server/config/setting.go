package config

import (
	"encoding"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-limiter/sluice/rule"
)

// Setting is one field of Config, as all its sources know it.
type Setting struct {
	Name string // in the file, below "server": tls.cert
	Help string // one sentence for the operator

	field  func(*Config) any // points to it
	values []string          // if it is one of few texts
	// check is for all other faults of a value that could be read; nil: there are none.
	check func(*Config) (reason, hint string)
}

// Env returns the name of its variable: SLUICE_TLS_CERT.
func (s *Setting) Env() string {
	return "SLUICE_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
}

// Flag returns the name of its flag, without dashes before it: tls-cert.
func (s *Setting) Flag() string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(s.Name)
}

// IsBool reports whether its flag needs no value.
func (s *Setting) IsBool() bool {
	_, is := s.field(new(Config)).(*bool)
	return is
}

// IsURL reports whether it is an address that may hold a password or a key.
func (s *Setting) IsURL() bool { return s.Name == "redis" || s.Name == "trace.endpoint" }

// Same reports whether two configurations agree on it.
func (s *Setting) Same(a, b *Config) bool { return reflect.DeepEqual(s.field(a), s.field(b)) }

// Default returns what holds if it is not set, as text.
func (s *Setting) Default() string {
	c := Defaults()
	return s.Text(&c)
}

// Text returns the value of c, without passwords.
func (s *Setting) Text(c *Config) string {
	switch v := s.field(c).(type) {
	case *string:
		if s.IsURL() {
			return redacted(*v)
		}
		return *v
	case *bool:
		return strconv.FormatBool(*v)
	case *int:
		return strconv.Itoa(*v)
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case fmt.Stringer:
		return v.String()
	}
	return ""
}

// Set reads the value from text, as it stands in the environment or after a flag. The
// error tells what is wrong with it and what to write instead.
func (s *Setting) Set(c *Config, text string) (err error) {
	switch v := s.field(c).(type) {
	case *string:
		*v = text
	case *bool:
		if *v, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case *int:
		if *v, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
	case *float64:
		if *v, err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("%q is no number", text)
		}
	case *rule.Duration:
		if err = v.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("%q is no duration: write 500ms, 2s or 1m30s", text)
		}
	case encoding.TextUnmarshaler:
		return v.UnmarshalText([]byte(text))
	}
	return nil
}

// fault says what is wrong with a value that could be read, or nothing.
func (s *Setting) fault(c *Config) (reason, hint string) {
	switch {
	case s.values != nil && !slices.Contains(s.values, s.Text(c)):
		return fmt.Sprintf("%s cannot be %q", s.Name, s.Text(c)), "use one of " + strings.Join(s.values, ", ")
	case s.check != nil:
		return s.check(c)
	}
	return "", ""
}

// redacted hides the password of a URL, and all of what is none.
func redacted(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil {
		return "(not a URL)"
	}
	return u.Redacted()
}
