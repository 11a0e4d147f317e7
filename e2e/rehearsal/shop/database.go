package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lib/pq"
	"github.com/redis/rueidis"

	"github.com/sluice-limiter/sluice"
	sluicerueidis "github.com/sluice-limiter/sluice/contrib/rueidis"
	"github.com/sluice-limiter/sluice/sqllimit"
	"github.com/sluice-limiter/sluice/store/failover"
	"github.com/sluice-limiter/sluice/store/memstore"
	"github.com/sluice-limiter/sluice/store/redisstore"
	"github.com/sluice-limiter/sluice/store/split"
)

//go:embed schema.sql
var schema string

// placeOrder writes an order. The database notes by its own clock from when to when it
// worked on it; the sleep stands for what a real order would cost it.
const placeOrder = `INSERT INTO orders (instance, began, ended)
	SELECT $1, statement_timestamp(), clock_timestamp()
	FROM pace, LATERAL pg_sleep(pace.milliseconds / 1000.0)`

// key names the database whose limit is shared, not who shares it.
const key = "orders-primary"

// database is a guarded PostgreSQL and what its guard needs.
type database struct {
	*sql.DB
	closers []func() // the last one first
}

func (d *database) close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
}

// openDatabase connects, creates what is missing, and puts the guard in front.
func openDatabase(ctx context.Context, s settings, logger *slog.Logger) (_ *database, err error) {
	connector, err := pq.NewConnector(s.database)
	if err != nil {
		return nil, errors.New("-database is neither a URL such as postgres://user:password@host/name nor words such as host=db") // the cause could show the password
	}
	bare := sql.OpenDB(connector)
	defer bare.Close()
	if _, err := bare.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("create the tables: %w", err)
	}
	d := &database{}
	limits := []sqllimit.Option{sqllimit.WithInFlight(s.databaseShare), sqllimit.WithMaxWait(s.databaseWait)}
	if s.redis != "" {
		shared, err := d.shared(ctx, s, logger)
		if err != nil {
			d.close()
			return nil, fmt.Errorf("-redis: %w", err)
		}
		limits = append(limits, sqllimit.WithKeyedConcurrency(shared, key))
	}
	d.DB = sql.OpenDB(sqllimit.Wrap(connector, limits...))
	d.closers = append(d.closers, func() { _ = d.DB.Close() })
	connections := int(s.databaseShare + s.databaseShare/2) // who waits holds a connection
	d.SetMaxOpenConns(connections)
	d.SetMaxIdleConns(connections)
	return d, nil
}

// shared is the limit of all instances together. While Redis is away each goes on with its
// part of it, and the instances know from before how many they are.
func (d *database) shared(ctx context.Context, s settings, logger *slog.Logger) (*sluice.KeyedConcurrency, error) {
	option, err := rueidis.ParseURL(s.redis)
	if err != nil {
		return nil, errors.New("it is no URL such as redis://user:password@host:6379") // the cause could show the password
	}
	client, err := sluicerueidis.Open(option)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, client.Close)
	redis, err := redisstore.New(client, redisstore.Prefix("shop"))
	if err != nil {
		return nil, err
	}
	member, err := split.Join(ctx, redis, split.Membership{Group: "shop", ID: s.name, Logger: logger})
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, func() { _ = member.Close() })
	local := memstore.New()
	guard, err := failover.New(redis, split.New(local, member),
		failover.Deadline(s.redisDeadline), failover.Probe(redis.Ping), failover.WithLogger(logger))
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, func() { _ = guard.Close() })
	return sluice.NewKeyedConcurrency(s.databaseLimit, guard, 30*time.Second), nil
}
