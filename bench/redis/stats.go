package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// stats are counters of the server.
type stats struct {
	cpu      float64 // seconds of its main thread, user and system
	memory   int64   // bytes in use
	scripts  int64   // EVALSHA and EVAL that clients sent
	commands int64   // all commands, those inside scripts too
}

// minus is what has happened since before.
func (s stats) minus(before stats) stats {
	return stats{
		cpu:      s.cpu - before.cpu,
		memory:   s.memory - before.memory,
		scripts:  s.scripts - before.scripts,
		commands: s.commands - before.commands,
	}
}

// stats asks the server for its counters.
func (s *server) stats() (stats, error) {
	text, err := s.admin.Info(context.Background(), "cpu", "memory", "stats", "commandstats").Result()
	if err != nil {
		return stats{}, fmt.Errorf("INFO: %w", err)
	}
	return parseInfo(text)
}

// version is the version of the server.
func (s *server) version() string {
	text, err := s.admin.Info(context.Background(), "server").Result()
	if err != nil {
		return "of unknown version"
	}
	return infoFields(text)["redis_version"]
}

func infoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

func parseInfo(text string) (stats, error) {
	fields := infoFields(text)
	var first error
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(fields[name], 64)
		if err != nil && first == nil {
			first = fmt.Errorf("INFO: field %s: %w", name, err)
		}
		return v
	}
	s := stats{
		cpu:      number("used_cpu_user_main_thread") + number("used_cpu_sys_main_thread"),
		memory:   int64(number("used_memory")),
		commands: int64(number("total_commands_processed")),
		scripts:  calls(fields["cmdstat_evalsha"]) + calls(fields["cmdstat_eval"]),
	}
	return s, first
}

// calls reads the number of calls of a line such as "calls=7,usec=12,…". A
// command that never ran has no line.
func calls(line string) int64 {
	rest, _ := strings.CutPrefix(line, "calls=")
	digits, _, _ := strings.Cut(rest, ",")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
