//go:build !race

package sqllimit_test

import (
	"database/sql"
	"database/sql/driver"
	"testing"
)

// TestAllocations: the guard adds the permit and, to a query, its rows.
func TestAllocations(t *testing.T) {
	measure := func(c driver.Connector, use func(*sql.DB)) float64 {
		db := sql.OpenDB(c)
		defer db.Close()
		return testing.AllocsPerRun(200, func() { use(db) })
	}
	exec := func(db *sql.DB) { must[sql.Result](t)(db.Exec("UPDATE")) }
	query := func(db *sql.DB) { must[*sql.Rows](t)(db.Query(benchQuery)).Close() }
	if more := measure(guardedQuick(), exec) - measure(quick{}, exec); more > 1 {
		t.Errorf("an exec allocates %v times more, want 1", more)
	}
	if more := measure(guardedQuick(), query) - measure(quick{}, query); more > 2 {
		t.Errorf("a query allocates %v times more, want 2", more)
	}
}
