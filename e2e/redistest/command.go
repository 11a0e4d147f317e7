package redistest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Try sends one command and returns the answer: nil, string, int64 or []any. What
// the server refuses is an [Error].
func (s *Server) Try(args ...string) (any, error) {
	c, err := dial(s.Addr())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.do(args...)
}

// Do sends one command that must succeed.
func (s *Server) Do(args ...string) any {
	s.t.Helper()
	answer, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("redistest: %s on %s: %v", strings.Join(args, " "), s.Addr(), err)
	}
	return answer
}

// Text sends one command whose answer is a text.
func (s *Server) Text(args ...string) string {
	s.t.Helper()
	return fmt.Sprint(s.Do(args...))
}

// Info returns the fields of a section of INFO.
func (s *Server) Info(section string) map[string]string {
	s.t.Helper()
	fields := map[string]string{}
	for line := range strings.Lines(s.Text("INFO", section)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

var calls = regexp.MustCompile(`calls=(\d+)`)

// Calls returns how often each command ran since the server started or its
// statistics were reset, also inside of scripts.
func (s *Server) Calls() map[string]int {
	s.t.Helper()
	counts := map[string]int{}
	for name, value := range s.Info("commandstats") {
		if m := calls.FindStringSubmatch(value); m != nil {
			counts[strings.TrimPrefix(name, "cmdstat_")], _ = strconv.Atoi(m[1])
		}
	}
	return counts
}

// TTLs returns all keys with the time that each has left, in milliseconds: -1 means
// forever.
func (s *Server) TTLs() map[string]int64 {
	s.t.Helper()
	c, err := dial(s.Addr())
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	defer c.Close()
	ask := func(args ...string) any {
		answer, err := c.do(args...)
		if err != nil {
			s.t.Fatalf("redistest: %s on %s: %v", strings.Join(args, " "), s.Addr(), err)
		}
		return answer
	}
	found := map[string]int64{}
	for cursor := "0"; ; {
		page := ask("SCAN", cursor, "COUNT", "1000").([]any)
		for _, key := range page[1].([]any) {
			if ttl := ask("PTTL", key.(string)).(int64); ttl != -2 { // -2 is gone meanwhile
				found[key.(string)] = ttl
			}
		}
		if cursor = page[0].(string); cursor == "0" {
			return found
		}
	}
}

// Immortal returns the keys without a TTL, sorted.
func (s *Server) Immortal() []string {
	s.t.Helper()
	ttls := s.TTLs()
	maps.DeleteFunc(ttls, func(_ string, ttl int64) bool { return ttl >= 0 })
	return slices.Sorted(maps.Keys(ttls))
}
