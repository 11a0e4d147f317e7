package sqllimit_test

import (
	"database/sql"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sluice-limiter/sluice"
	"github.com/sluice-limiter/sluice/sqllimit"
)

var classes = map[sqllimit.Class][]string{
	sqllimit.Free: {
		"", " ;; ", "-- nothing", "/* nothing */",
		"BEGIN", "begin;", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", "BEGIN IMMEDIATE",
		"START TRANSACTION", "COMMIT", "commit and no chain", "END", "ROLLBACK", "ABORT WORK",
		"SAVEPOINT a", "RELEASE SAVEPOINT a", "ROLLBACK TO SAVEPOINT \"my point\"", "ROLLBACK TO a", "/* x */ COMMIT -- y",
	},
	sqllimit.Read: {
		"SELECT 1", "select*from t", " \n\tSELECT 1;", "(SELECT 1) UNION (SELECT 2)", "-- a\nSELECT 1", "/* a /* b */ c */ SELECT 1",
		"WITH x AS (SELECT 1) SELECT * FROM x", "VALUES (1)", "TABLE t", "SHOW search_path", "DESCRIBE t", "SET search_path = a",
		"EXPLAIN DELETE FROM t", "EXPLAIN (FORMAT JSON) UPDATE t SET a = 1", "EXPLAIN ANALYZE SELECT 1", "EXPLAIN QUERY PLAN SELECT 1",
		"SELECT 'x FOR UPDATE; DELETE'", `SELECT "FOR", "UPDATE" FROM t`, "SELECT $$ ; DELETE FROM t $$", "SELECT $a$ $b$ FOR UPDATE $a$",
		"SELECT $1, $2", "SELECT 'it''s ; DELETE'", `SELECT E'it\'s ; DELETE'`, "SELECT a FROM t -- FOR UPDATE", "SELECT substring(a FOR 3) FROM t",
		"SELECT INSERT('abc', 1, 2, 'x'), truncate(1.5, 0)", "SELECT 'C:\\dir', 'a\\\\' FROM t", "SELECT `a\\` FROM t", "SHOW CREATE TABLE t", "SET a = 'x'",
		"SELECT updated, deleted FROM t", "SELECT 1; SELECT 2", "BEGIN; SELECT 1; COMMIT", "SELECT a FROM t WHERE b = ? /* INTO */",
	},
	sqllimit.Write: {
		"INSERT INTO t VALUES (1)", "update t set a = 1", "DELETE FROM t", "MERGE INTO t", "REPLACE INTO t VALUES (1)", "CREATE TABLE t (a int)",
		"TRUNCATE t", "CALL p()", "EXEC p", "DO $$ BEGIN END $$", "COPY t FROM STDIN", "LOCK TABLE t", "VACUUM", "whatever",
		"SELECT * FROM t FOR UPDATE", "SELECT * FROM t FOR NO KEY UPDATE", "SELECT * FROM t for\n share", "SELECT * FROM t LOCK IN SHARE MODE",
		"SELECT * INTO u FROM t", "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", "WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x",
		"EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN (ANALYZE, BUFFERS) INSERT INTO t VALUES (1)", "explain analyze with x as (delete from t) select 1",
		"SELECT 1; DELETE FROM t", "COMMIT; DELETE FROM t", "BEGIN p; END", "BEGIN UPDATE t SET a = 1; END", "START REPLICA", "ROLLBACK DELETE FROM t",
		"SELECT 1 DELETE FROM t", "SELECT 1 UPDATE [t] SET a = 1", "SELECT 'a' EXEC p", "SET NOCOUNT ON DELETE FROM t", "USE db DROP TABLE t",
		`SELECT '\''; DELETE FROM t WHERE a='\''`, `SELECT "\""; DELETE FROM t WHERE a="\""`, `SELECT 'a\\\''; DELETE FROM t`, `EXPLAIN '\''; DELETE`,
		"/*!50000 DELETE */ FROM t", "SELECT 'not closed", "SELECT $a$ not closed", "SELECT /* not closed", "'", "=",
	},
}

func TestClassify(t *testing.T) {
	for want, queries := range classes {
		for _, q := range queries {
			if got := sqllimit.Classify(q); got != want {
				t.Errorf("%q is %v, want %v", q, got, want)
			}
		}
	}
	if got := sqllimit.Read.String() + ", " + sqllimit.Write.String() + ", " + sqllimit.Free.String() + ", " + sqllimit.Class(7).String(); got != "read, write, free, class 7" {
		t.Error(got)
	}
}

// FuzzClassify: any text has one of the classes, whatever stands around it.
func FuzzClassify(f *testing.F) {
	for _, queries := range classes {
		for _, q := range queries {
			f.Add(q)
		}
	}
	f.Fuzz(func(t *testing.T, q string) {
		class := sqllimit.Classify(q)
		if class > sqllimit.Write {
			t.Errorf("%q is %v", q, class)
		}
		for _, same := range []string{"/* a */ " + q, "-- a\n" + q, ";" + q} {
			if got := sqllimit.Classify(same); got != class {
				t.Errorf("%q is %v, but %q is %v", q, class, same, got)
			}
		}
		if got := sqllimit.Classify(q + "\n;DELETE FROM t"); got != sqllimit.Write && !swallows(q) {
			t.Errorf("%q with a write behind it is %v", q, got)
		}
	})
}

// swallows reports whether what follows q may belong to a quote or a comment in it.
func swallows(q string) bool { return strings.ContainsAny(q, "'\"`$") || strings.Contains(q, "/*") }

// TestOptionsPanic: an option that makes no sense is found when it is given.
func TestOptionsPanic(t *testing.T) {
	for name, option := range map[string]func(){
		"no connector":    func() { sqllimit.Wrap(nil) },
		"no driver":       func() { sqllimit.WrapDriver(nil) },
		"no limiter":      func() { sqllimit.WithLimiter(nil) },
		"no concurrency":  func() { sqllimit.WithConcurrency(nil) },
		"no classifier":   func() { sqllimit.WithClassifier(nil) },
		"no key":          func() { sqllimit.WithKeyed(sluice.NewKeyed(sluice.PerSecond(1)), "") },
		"no store":        func() { sqllimit.WithKeyedConcurrency(nil, "a") },
		"nothing allowed": func() { sqllimit.WithInFlight(0) },
		"invalid limit":   func() { sqllimit.WithLimit(sluice.PerSecond(-1)) },
		"negative cost":   func() { sqllimit.WithCost(sqllimit.Read, -1) },
		"huge cost":       func() { sqllimit.WithCost(sqllimit.Read, math.MaxInt64) },
		"cost of free":    func() { sqllimit.WithCost(sqllimit.Free, 1) },
		"no limit":        func() { sqllimit.Wrap(&fake{}, sqllimit.WithMaxWait(0)) },
		"driver without":  func() { sqllimit.WrapDriver(oldDriver{&fake{}}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			option()
		})
	}
}

// TestSeveralStatements: a text costs what its statements cost, but no more than the
// rate can ever admit.
func TestSeveralStatements(t *testing.T) {
	for query, want := range map[string]float64{
		"INSERT a; INSERT b; INSERT c":                      6,
		"SELECT 1; SELECT 2; UPDATE t SET a = ';';":         4,
		"BEGIN; INSERT a; SELECT 1; COMMIT":                 3,
		strings.Repeat("INSERT INTO t VALUES (1);", 1000):   100,
		strings.Repeat("SELECT 1;", 10_000) + "INSERT INTO": 100,
	} {
		for _, opt := range []func(*sluice.Limiter, *sluice.Keyed) sqllimit.Option{
			func(l *sluice.Limiter, _ *sluice.Keyed) sqllimit.Option { return sqllimit.WithLimiter(l) },
			func(_ *sluice.Limiter, k *sluice.Keyed) sqllimit.Option { return sqllimit.WithKeyed(k, "db") },
		} {
			limit := sluice.PerHour(1).WithBurst(100)
			l, k := sluice.NewLimiter(limit), sluice.NewKeyed(limit)
			db, _ := guardedDB(t, &fake{}, 1, opt(l, k), sqllimit.WithMaxWait(0))
			must[sql.Result](t)(db.Exec(query))
			left := must[sluice.Decision](t)(k.Peek(t.Context(), "db"))
			if spent := 200 - l.Tokens() - float64(left.Remaining()); spent != want {
				t.Errorf("%.30q costs %v, want %v", query, spent, want)
			}
		}
	}
}

// TestOptionsAreNotShared: an option that is used twice makes two limits.
func TestOptionsAreNotShared(t *testing.T) {
	for _, limit := range []sqllimit.Option{sqllimit.WithInFlight(1), sqllimit.WithLimit(sluice.PerHour(2))} {
		for range 2 {
			db, _ := guardedDB(t, &fake{}, 9, limit, sqllimit.WithMaxWait(0))
			tx := must[*sql.Tx](t)(db.Begin())
			defer tx.Rollback()
			must[sql.Result](t)(tx.Exec("INSERT"))
		}
	}
}

// TestRemembered: also with more statements than are remembered each gets its class.
func TestRemembered(t *testing.T) {
	rate := sluice.NewLimiter(sluice.Per(1e6, 10_000*time.Hour)) // nothing comes back meanwhile
	db, _ := guardedDB(t, &fake{}, 1, sqllimit.WithLimiter(rate))
	for range 2 {
		for i := range 300 {
			must[sql.Result](t)(db.Exec(fmt.Sprintf("SELECT %d", i)))
			must[sql.Result](t)(db.Exec(fmt.Sprintf("UPDATE t SET a = %d", i)))
		}
	}
	if spent := 1e6 - rate.Tokens(); spent != 1800 {
		t.Errorf("spent %v, want 2·300·(1+2)", spent)
	}
}
