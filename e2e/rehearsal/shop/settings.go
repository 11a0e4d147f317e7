package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// errSettings means that a flag or a variable is wrong, and that this has been told.
var errSettings = errors.New("wrong settings")

// settings are flags, or variables of the environment: -per-second is SHOP_PER_SECOND.
type settings struct {
	listen   string
	name     string
	database string
	redis    string

	perSecond int64
	inFlight  int64

	databaseLimit int64
	databaseShare int64
	databaseWait  time.Duration
	redisDeadline time.Duration
	drain         time.Duration
}

func (s *settings) flags(f *flag.FlagSet) {
	host, _ := os.Hostname()
	f.StringVar(&s.listen, "listen", "127.0.0.1:8080", "`address` of the shop")
	f.StringVar(&s.name, "name", host, "name of this `instance`, in answers and in the database")
	f.StringVar(&s.database, "database", "", "where PostgreSQL is, as a `URL` or as words: host=db user=shop")
	f.StringVar(&s.redis, "redis", "", "`URL` of the Redis through which instances share the limit of the database; empty: each has -database-share")
	f.Int64Var(&s.perSecond, "per-second", 40, "requests per `second` that this instance serves")
	f.Int64Var(&s.inFlight, "in-flight", 16, "requests that this instance works on at the same time")
	f.Int64Var(&s.databaseLimit, "database-limit", 8, "statements that the database works on at the same time, for all instances")
	f.Int64Var(&s.databaseShare, "database-share", 6, "statements of this instance among them, at most")
	f.DurationVar(&s.databaseWait, "database-wait", 2*time.Second, "how long a statement may wait for its turn")
	f.DurationVar(&s.redisDeadline, "redis-deadline", 100*time.Millisecond, "how long Redis may take; after that this instance goes on with its share of the limit")
	f.DurationVar(&s.drain, "drain", 0, "for how long to go on after SIGTERM, not ready, before the end")
}

// readSettings takes flags before variables before defaults.
func readSettings(args, environment []string, diagnostics io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("shop", flag.ContinueOnError)
	f.SetOutput(diagnostics)
	s.flags(f)
	for _, entry := range environment {
		name, value, _ := strings.Cut(entry, "=")
		key, ours := strings.CutPrefix(name, "SHOP_")
		if !ours || value == "" {
			continue
		}
		if err := f.Set(strings.ToLower(strings.ReplaceAll(key, "_", "-")), value); err != nil {
			fmt.Fprintf(diagnostics, "%s: %v\n", name, err)
			return s, errSettings
		}
	}
	if err := f.Parse(args); err != nil {
		return s, errors.Join(errSettings, err)
	}
	if problem := s.problem(f.Args()); problem != "" {
		fmt.Fprintln(diagnostics, problem)
		return s, errSettings
	}
	return s, nil
}

func (s *settings) problem(rest []string) string {
	switch {
	case len(rest) > 0:
		return fmt.Sprintf("%q is no flag", rest[0])
	case s.database == "":
		return "-database, or SHOP_DATABASE, is missing: say where PostgreSQL is"
	case s.perSecond < 1 || s.inFlight < 1 || s.databaseLimit < 1 || s.databaseShare < 1:
		return "-per-second, -in-flight, -database-limit and -database-share have to be 1 or more"
	case s.databaseWait <= 0 || s.redisDeadline <= 0 || s.drain < 0:
		return "-database-wait and -redis-deadline have to be above 0, and -drain not below"
	}
	return ""
}
