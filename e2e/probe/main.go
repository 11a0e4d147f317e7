// Command probe finds PostgreSQL's number: how many statements per second a database
// answers in time. The usual variables say which one: PGHOST, PGUSER, PGDATABASE, PGPASSWORD.
//
//	PGHOST=127.0.0.1 PGUSER=app go run ./probe -connections 16 -query "SELECT … WHERE id = 1"
//
// The number is what the guard of package sqllimit wants to know.
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	_ "github.com/lib/pq"

	"github.com/sluice-limiter/sluice/probe"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("probe", flag.ContinueOnError)
	query := flags.String("query", "SELECT 1", "statement to run")
	connections := flags.Int("connections", 8, "how many connections to use")
	within := flags.Duration("within", 200*time.Millisecond, "99 % of the statements are answered in this time")
	hold := flags.Duration("hold", 0, "how long a rate is tried; 0 means 25 times -within")
	repeats := flags.Int("repeats", 3, "how many times the knee is looked for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db, err := sql.Open("postgres", "")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(*connections)
	db.SetMaxIdleConns(*connections)

	report, err := probe.Run(ctx, func(ctx context.Context) error {
		_, err := db.ExecContext(ctx, *query)
		return err
	}, probe.Options{
		Now: time.Now, Goal: probe.Goal{Quantile: 0.99, Latency: *within}, Hold: *hold, Repeats: *repeats, Start: 50,
		Progress: func(p probe.Progress) {
			if p.Step != nil {
				fmt.Fprintf(out, "%8.0f/s  p50 %-12v p99 %-12v %s\n", p.Rate, p.Step.P50, p.Step.P99, p.Step.Why)
			}
		},
	})
	if report == nil {
		return err
	}
	fmt.Fprintf(out, "%.0f statements/s over %d connections (%.0f to %.0f)\n", report.Capacity, *connections, report.Low, report.High)
	if report.Capacity > 0 {
		fmt.Fprintf(out, "the guard: sqllimit.WithLimit(sluice.PerSecond(%.0f)), sqllimit.WithInFlight(%d)\n", 0.8*report.Capacity, *connections)
	}
	return err
}
